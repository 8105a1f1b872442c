import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.4"


class Crochet(ConanFile):
    name = "crochet"
    description = "Training hooks as C++20 types, at no cost in a step"
    license = "Apache-2.0"
    topics = ("machine-learning", "training", "hooks", "monitoring", "header-only")
    package_type = "header-library"

    settings = "os", "arch", "compiler", "build_type"
    # with_cuda brings nothing: NVIDIA's driver and NVRTC come from the machine, when a program runs. Nor does with_mpi:
    # MPI is the machine's, because its launcher and its library belong together.
    options = {
        "with_hana": [True, False],
        "with_cpu": [True, False],
        "with_data": [True, False],
        "with_images": [True, False],
        "with_io": [True, False],
        "with_debug": [True, False],
        "with_cuda": [True, False],
        "with_mpi": [True, False],
        # Components have compiled halves, which the project that uses them builds; or all of them is in the headers.
        "header_only": [True, False],
    }
    # Debug streams bring gRPC, which takes long to build, and Boost is large: for who asks for them.
    default_options = {
        "with_hana": False,
        "with_cpu": True,
        "with_data": True,
        "with_images": False,
        "with_io": True,
        "with_debug": False,
        "with_cuda": False,
        "with_mpi": False,
        "header_only": False,
    }

    exports_sources = (
        "CMakeLists.txt",
        "LICENSE",
        "bench/*",
        "cmake/*",
        "examples/*",
        "include/*",
        "kernels/*",
        "proto/*",
        "src/*",
        "tests/*",
        "tools/*",
    )
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(crochet VERSION ([0-9.]+)", text).group(1)

    @property
    def _with_tests(self):
        # Whoever installs headers does not want to build GoogleTest first, so tests run only where they are asked for:
        # -c tools.build:skip_test=False
        return not self.conf.get("tools.build:skip_test", default=True, check_type=bool)

    def requirements(self):
        # Without upper bounds below the next major version a package that is not out yet could be taken. The lower
        # bounds are Debian 12's.
        if self.options.with_hana:
            self.requires("boost/[>=1.74 <2]", options={"header_only": True})
        if self.options.with_cpu:
            self.requires("eigen/[>=3.4 <6]")
        if self.options.with_data:
            self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_images:
            self.requires("libjpeg-turbo/[>=2.1.5 <4]")
        if self.options.with_images or self.options.with_io:
            self.requires("libpng/[>=1.6 <2]")
        if self.options.with_io:
            self.requires("protobuf/[>=3.21.12 <7]")
            self.requires("leveldb/[>=1.23 <2]")
            self.requires("isa-l/[>=2.30 <3]")
            self.requires("nlohmann_json/[>=3.11 <4]")
        if self.options.with_debug:
            self.requires("grpc/[>=1.51 <1.80]")  # uses types that gRPC's generated code is made of
            self.requires("openssl/[>=1.1.1 <4]")

    def build_requirements(self):
        if self._with_tests:
            self.test_requires("gtest/[>=1.12 <2]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.options.with_debug and not self.options.with_io:
            raise ConanInvalidConfiguration("with_debug=True needs with_io=True: a debug stream is made of its events")

        if self.options.with_images and not self.options.with_data:
            raise ConanInvalidConfiguration("with_images=True needs with_data=True: a folder of images is a data set")
        if self.options.with_cuda and not self.options.with_cpu:
            raise ConanInvalidConfiguration("with_cuda=True needs with_cpu=True: both executors share their plans")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for component in ("hana", "cpu", "data", "images", "io", "debug", "cuda", "mpi"):
            wanted = self._with_tests and self.options.get_safe(f"with_{component}")
            toolchain.cache_variables[f"CROCHET_WITH_{component.upper()}"] = bool(wanted)
        toolchain.cache_variables["CROCHET_HEADER_ONLY"] = bool(self.options.header_only)
        toolchain.cache_variables["CROCHET_TESTS"] = self._with_tests
        toolchain.cache_variables["CROCHET_EXAMPLES"] = self._with_tests
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if self._with_tests:
            cmake.build()
            cmake.ctest(["--output-on-failure"])

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_id(self):
        # One package for all compilers, settings and options: they change what it needs, not what is in it. All but
        # header_only, which is the default of its CMake files.
        self.info.settings.clear()
        self.info.requires.clear()
        for name in ("hana", "cpu", "data", "images", "io", "debug", "cuda", "mpi"):
            self.info.options.rm_safe(f"with_{name}")

    def package_info(self):
        # CMake finds this project's own crochetConfig.cmake, as it does without Conan. A generated one could not use
        # what comes from the system.
        self.cpp_info.set_property("cmake_find_mode", "none")
        # One of Conan's two CMake generators looks for that file where the package says, the other where a component does.
        config = [os.path.join("lib", "cmake", "crochet")]
        self.cpp_info.builddirs = config
        self._component("core", [], pkg_config="crochet").builddirs = config
        if self.options.with_hana:
            self._component("hana", ["core", "boost::headers"])
        if self.options.with_cpu:
            self._component("cpu", ["core", "eigen::eigen"])
        if self.options.with_data:
            self._component("data", ["core", "zlib::zlib"])
        if self.options.with_images:
            self._component("images", ["core", "data", "libpng::libpng", "libjpeg-turbo::jpeg"])
        if self.options.with_io:
            libraries = ("protobuf::libprotobuf", "leveldb::leveldb", "isa-l::isa-l", "libpng::libpng",
                         "nlohmann_json::nlohmann_json")
            component = self._component("io", ["core", *libraries])
            if self.options.header_only:
                component.defines = ["CROCHET_HEADER_ONLY"]
        if self.options.with_debug:
            self._component("debug", ["core", "io", "grpc::grpc++", "openssl::crypto"])
        if self.options.with_cuda:
            self._component("cuda", ["core", "cpu"])
        if self.options.with_mpi:
            self._component("mpi", ["core"])

    def _component(self, name, requires, pkg_config=None):
        """What the generators that are not CMake's make of a component."""
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"crochet::{name}")
        component.set_property("pkg_config_name", pkg_config or f"crochet-{name}")
        component.requires = requires
        component.bindirs = []
        component.libdirs = []
        return component

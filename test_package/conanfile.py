import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestPackage(ConanFile):
    """Builds and runs one small program against the package that was just made."""

    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # or a CMakeUserPresets.json would appear in the source tree
        options = self.dependencies["crochet"].options
        components = [name for name in ("hana", "cpu", "data", "images", "io", "debug") if options.get_safe(f"with_{name}")]
        toolchain.cache_variables["COMPONENTS"] = ";".join(["core"] + components)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "test_package"), env="conanrun")

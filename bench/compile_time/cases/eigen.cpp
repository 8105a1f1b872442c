// SPDX-License-Identifier: Apache-2.0
// One product, with nothing of crochet: what anybody pays who uses Eigen.
#include <Eigen/Core>

void multiply(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b, Eigen::MatrixXf& c) { c.noalias() = a * b; }

// SPDX-License-Identifier: Apache-2.0
// One product, without crochet: the cost of Eigen alone.
#include <Eigen/Core>

void multiply(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b, Eigen::MatrixXf& c) { c.noalias() = a * b; }

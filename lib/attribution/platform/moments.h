// SPDX-License-Identifier: Apache-2.0
// Means, variances and the covariance of pairs of numbers, where newer pairs count more. Pure.
#pragma once

#include "attribution/model/arithmetic.h"

namespace keplerd {

struct Moments {
  double weight = 0;
  double x = 0, y = 0;            // means
  double xx = 0, xy = 0, yy = 0;  // variances and covariance

  // A pair of this weight, which is positive; those before keep the part `kept` of theirs.
  void add(double new_x, double new_y, double new_weight, double kept) {
    weight = weight * kept + new_weight;
    const double part = new_weight / weight;
    const double dx = new_x - x, dy = new_y - y;
    x += part * dx;
    y += part * dy;
    xx = (1 - part) * (xx + part * dx * dx);
    xy = (1 - part) * (xy + part * dx * dy);
    yy = (1 - part) * (yy + part * dy * dy);
  }

  // All pairs of `other` as well.
  void add(const Moments& other) {
    if (other.weight <= 0) return;
    const double all = weight + other.weight;
    const double part = other.weight / all;
    const double dx = other.x - x, dy = other.y - y;
    x += part * dx;
    y += part * dy;
    const double between = part * (1 - part);
    xx += part * (other.xx - xx) + between * dx * dx;
    xy += part * (other.xy - xy) + between * dx * dy;
    yy += part * (other.yy - yy) + between * dy * dy;
    weight = all;
  }

  // From -1 to 1; 0 if either does not vary.
  double correlation() const { return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0; }
};

}  // namespace keplerd

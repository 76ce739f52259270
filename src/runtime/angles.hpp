// sin, cos and tan of angles so large that a few multiply-adds cannot reduce them to [-pi/4, pi/4].
#pragma once

extern "C" {
// Accurate to one unit in the last place for every finite x with |x| >= 1; nan otherwise.
double bt_sin_huge(double x);
double bt_cos_huge(double x);
double bt_tan_huge(double x);
}

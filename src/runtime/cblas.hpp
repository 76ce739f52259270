// The enumerations of the CBLAS standard.
#pragma once

namespace bitale::runtime {

enum CblasOrder { CblasRowMajor = 101 };
enum CblasTranspose { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };
enum CblasTriangle { CblasUpper = 121, CblasLower = 122 };
enum CblasDiagonal { CblasNonUnit = 131, CblasUnit = 132 };
enum CblasSide { CblasLeft = 141, CblasRight = 142 };

}  // namespace bitale::runtime

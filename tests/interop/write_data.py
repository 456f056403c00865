"""Writes the data sets of the examples as CSV, from what scikit-learn ships. usage: write_data.py FOLDER

digits.csv: 1,797 handwritten digits, 64 pixels and a label. diabetes.csv: body-mass index (x) and progression (y), both
standardised.
"""
import pathlib
import sys

import sklearn.datasets


def write_digits(path):
    digits = sklearn.datasets.load_digits()
    with open(path, "w") as out:
        out.write(",".join([f"pixel{i}" for i in range(64)] + ["label"]) + "\n")
        for pixels, label in zip(digits.data, digits.target):
            out.write(",".join([f"{p:g}" for p in pixels] + [str(label)]) + "\n")


def write_diabetes(path):
    data = sklearn.datasets.load_diabetes()
    x, y = data.data[:, 2], data.target
    with open(path, "w") as out:
        out.write("x,y\n")
        for a, b in zip((x - x.mean()) / x.std(), (y - y.mean()) / y.std()):
            out.write(f"{a:.9g},{b:.9g}\n")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    write_digits(folder / "digits.csv")
    write_diabetes(folder / "diabetes.csv")

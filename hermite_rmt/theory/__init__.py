"""The models, one file each: what users call.

`attention`, `linear_regression` and `marchenko_pastur` are the models; `model` is what the first two share,
`overlaps` the Gram matrix of signal and weights; `equivalent` takes any matrix expression through the engine;
`check` tests a claim about any of them.
"""

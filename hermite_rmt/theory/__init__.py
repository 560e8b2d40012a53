"""The models, one file each: what users call.

`attention`, `linear_regression`, `marchenko_pastur` and the files beside them are the models; `model` is what most
share, `overlaps` the Gram matrix of signal and weights; `equivalent` takes any matrix expression through the engine,
with `engine` behind it; `statements` are derivations by name; `check` tests a claim about any of them.
"""

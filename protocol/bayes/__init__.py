"""Naive Bayes on shares: from counts to a model (training), from questions to labels (classification).

Read in this order:

- `counts`: what a hospital sums up of its table.
- `agreed_set`: both computing parties hold the same contributions.
- `validity`: mixers check on shares that a contribution is the counts of some table.
- `noise`: the joint counts get noise that neither computing party knows, and are clamped before training takes them.
- `precision`, `model`, `training`: the width of scores, the table θ of log-probabilities, and how θ is made on shares.
- `reference`: the same classifier in the clear, which the labels must equal.
- `question`, `public_rows`: rows that nobody sees, and rows that the mixers see.
- `label`, `classification`: the label for the hospital that asked, and a question from its beginning to its end.
- `quantiles`, `information`, `cuts`: the round before the round, which finds cut points and ranks of attributes.
- `recipe`, `evaluation`, `joint_test`: classifiers of a hospital's own choice, and how often one is right.
- `two_hospitals`: questions between two hospitals without mixers.
- `whole`: all roles of a round, from tables to labels, in one function for each setting.
"""

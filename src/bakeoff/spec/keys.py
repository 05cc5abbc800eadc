"""The forms that issuers give keys: the same are refused in scripts and left out of reports."""

ISSUED = (
    r"(?:(?:hf_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|AKIA|AIza|eyJ|wandb_v\d+_)[\w.-]{16,}"
    r"|local-[0-9A-Za-z]{16,}"
    r"|[0-9a-f]{40})"
)
"""A part of a regular expression, without what may stand beside it: Hugging Face, GitHub, GitLab, Slack, OpenAI,
Amazon, Google, web tokens, Weights & Biases (also 40 hexadecimal digits)."""

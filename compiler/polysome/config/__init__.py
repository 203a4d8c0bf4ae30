"""Configuration: what an operator gives an NF in TOML, CSV and event files (LANGUAGE.md, section 8).

`toml_text`, `json_text` and `csv_text` read a file into one tree of `items.Item`: values with the places where they
stand. `convert` and `rows` turn items into values of the declared types, the same way for every format. `load` and
`events` are the entries; `tables` holds what the NF reads while it runs, and how that changes.
"""

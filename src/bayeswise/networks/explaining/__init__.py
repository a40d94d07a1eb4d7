"""Why a network answers as it does.

account.py       the weight of each finding, conflicts, and what to ask next, in bits
account_text.py  the account in a terminal
account_html.py  the account as a page
sensitivity.py   how an answer depends on one entry of a table
"""

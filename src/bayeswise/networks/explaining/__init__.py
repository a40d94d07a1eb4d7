"""Why a network answers as it does.

account.py       the weight of each finding, conflicts, and what to ask next
account_text.py  the account in a terminal
account_html.py  the account as a page
information.py   what other nodes would say, in bits
sensitivity.py   how an answer depends on one entry of a table
"""

"""The words of a query: looked into token by token, with their exact places; nothing is bound here."""

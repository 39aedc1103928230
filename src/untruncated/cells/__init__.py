"""Recurrent cells: frozen records of static choices with pure functions of pytrees."""

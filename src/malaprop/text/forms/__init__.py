"""Forms: numbers, dates, times, identifiers and addresses, as slots of a template.

grammar      where they are in a text, and how each is read
identifiers  which strings are identifiers
form         what a form is
numbers      numbers, money, percentages, ordinals, decades
dates        dates
times        times of the day
stand_ins    what is drawn anew: identifiers and addresses
grids        the values that can be drawn, and their places on a line
steps        how far apart two values are that count as one step
"""

"""Phrases for the generated items of a scenario's world."""

from __future__ import annotations

from trajectories.vocabulary import NOTES, Phrases

WORLD = Phrases(
    lines=(
        *NOTES.lines,
        "{day}: {event} in {town}, {number} people came, {amount} dollars taken.",
        "{day}: {person} rang from {town} about the {goods}; rang back the same afternoon.",
        "{day}: invoice of {firm} over {amount} dollars, paid.",
        "{day}: {number} {goods} written off after the {event}.",
        "{day}: keys of the {town} depot handed to {person}.",
        "{day}: {person} and {person_2} shared the shift at the {event}.",
        "{day}: {firm} cannot supply {goods} before the {event}; {firm_2} can.",
    ),
    subjects=NOTES.subjects,
    remarks={
        "message": (
            "The {goods} for {town} have arrived, {number} of them, and all in one piece.",
            "Can you cover for {person} at the {event}? I am in {town} that week.",
            "{firm} called again about the invoice over {amount} dollars. It is paid, I told them.",
            "Thanks for the lift to {town}!",
            "I left the list for the {event} on your desk, {number} names so far.",
            "No need to answer {firm} any more, {person} has done it.",
            "{person} is off sick, so {person_2} brings the {goods}.",
            "The {event} went well, {number} guests and hardly a complaint.",
            "Did {person} ever give back the {number} {goods}? Never mind, found them.",
            "Train to {town} was late again. Start without me next time.",
            "{amount} dollars for {goods}? {firm} must be joking.",
            "Happy birthday from all of us in {town}!",
            "We settled on {firm} for the {event}; {firm_2} was dearer by far.",
            "Photos of the {event} are with {person} now.",
        ),
        "tweet": (
            "Back from the {event} in {town} with {number} photos and one cold",
            "Somebody left a box of {goods} at {town} station. Not mine. Anybody?",
            "{number} {goods} later the workshop is empty again. Good day",
            "Full house at the {event}. Thank you, {town}!",
            "Hot take: the {event} was better before {firm} sponsored it",
            "If you need {goods}, {firm} in {town} still answers the telephone. Imagine",
            "Rain in {town}. The {event} moves indoors, bring a chair",
            "Shout-out to {person}, who mended {number} {goods} in one weekend",
            "Paid {amount} dollars for {goods} and I regret nothing",
            "Morning run through {town}, {number} minutes, legs like {goods}",
            "Our stall at the {event} is sold out, see you in {town} next month",
            "{person} gave a lovely talk on {goods} at the {event}",
            "Does anybody at {firm} read these? Asking for {number} friends",
        ),
        "comment": (
            "Greetings from {town}!",
            "We saw you at the {event}.",
            "{person} would have liked that.",
            "Ask {firm}, they had {goods} last week.",
            "Count me in, with {number} others.",
            "Same here in {town}.",
            "That is what {person} said as well.",
            "Far too much for {goods}.",
        ),
    },
    matters=(
        (
            "{number} {goods} missing from the delivery to {town}",
            "{firm} delivered on {day} and {person} counted {number} too few. Sent on since.",
        ),
        (
            "Double invoice of {firm}",
            "The same {amount} dollars came twice. {firm} has withdrawn the second one.",
        ),
        (
            "Label printer in {town} jams",
            "It jams on the labels for {goods}. {person} cleaned the rollers on {day}.",
        ),
        (
            "Room for the {event}",
            "Seats for {number} were needed in {town}; {person} found a hall.",
        ),
        (
            "Door card of {person} does not open the {town} depot",
            "Happened first on {day}. A new card was made out.",
        ),
        (
            "{goods} arrived wet",
            "{number} of them from {firm}, taken back on {day}. {person} signed.",
        ),
        (
            "Guest list of the {event}",
            "{person} could not see it from {town}; the rights are set right.",
        ),
        (
            "Web shop shows {goods} twice",
            "Once for {amount} dollars and once as sold out. Merged on {day}.",
        ),
        (
            "Telephone line in {town} is dead",
            "No tone since {day}, {number} calls were lost. The exchange was at fault.",
        ),
        (
            "Wrong price for {goods}",
            "The catalogue says {amount} dollars, the till asks more. {person} corrected it.",
        ),
        (
            "Heating off before the {event}",
            "The hall in {town} had {number} complaints. {firm} bled the radiators on {day}.",
        ),
        (
            "Refund for {person}",
            "{amount} dollars for the cancelled {event}, paid out on {day}.",
        ),
        (
            "{firm} wants another form",
            "The old one lacked the number of {goods}. {person} sent it on {day}.",
        ),
        (
            "Van to {town} is late",
            "{number} {goods} for the {event} were on it. Arrived the same evening.",
        ),
    ),
    files=(
        "{event} {town}",
        "{goods} {town}",
        "invoice {firm}",
        "minutes {event}",
        "{firm} {goods}",
        "rota {town}",
        "stock {goods}",
        "guests {event}",
        "letter {person}",
        "{town} depot",
    ),
)
"""Phrases for the world of a base scenario."""

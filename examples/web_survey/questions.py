"""The questions; edit them for your own survey. Everybody may decline to answer any question."""

DECLINED = "rather not say"


def question(column, text, *options, sensitive=False, **others):
    """Return a question with its options and further properties."""
    options = [*options, DECLINED]
    return {"column": column, "text": text, "options": options, "sensitive": sensitive, **others}


SURVEY = {
    "name": "driving-2",  # browsers store their report under this name
    "title": "Driving after drinking",
    "introduction": "Twelve questions, three minutes. Please answer truthfully: your answer to the "
    "last question stays hidden, also from the makers of this survey.",
    "questions": [
        question(
            "age",
            "How old are you?",
            *("18 to 34", "35 to 59", "60 or older"),
            typed={"unit": "years", "least": 18, "most": 120, "from": [18, 35, 60]},
        ),
        question("gender", "What is your gender?", "woman", "man", "another"),
        question("place", "Where do you live?", "in a city or town", "in the countryside"),
        question("home", "Do you live alone?", "alone", "with others"),
        question("work", "Do you have paid work?", "no paid work", "part-time", "full-time"),
        question(
            "licence",
            "How long have you had a driving licence?",
            *("I have none", "less than 5 years", "5 years or longer"),
        ),
        question(
            "drives",
            "How often do you drive a car?",
            *("never or hardly ever", "every week", "every day"),
        ),
        question(
            "stop",
            "How far is the nearest stop of a bus or train from your home?",
            *("up to 10 minutes", "more than 10 minutes"),
        ),
        question("taxi", "Could you get a taxi at night?", "yes, I could", "no, I could not"),
        question(
            "drinks",
            "How often do you drink alcohol?",
            *("never", "some days of a month", "some days of a week", "most days"),
        ),
        question(
            "checked",
            "Have the police checked your breath in the last two years?",
            *("not checked", "checked"),
        ),
        question(
            "drove",
            "In the last two years, have you driven a car after drinking too much?",
            *("no, not once", "yes, at least once"),
            sensitive=True,
        ),
    ],
}


def categories(survey):
    """List the answers to each question."""
    return {asked["column"]: asked["options"] for asked in survey["questions"]}

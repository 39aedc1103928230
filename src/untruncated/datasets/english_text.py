"""A short story in English, written for this suite: text for models that predict characters.

It stands in for corpora that may not be given away with the code.
"""

from functools import cache

_STORY = """\
The lock keeper's house stands where the old canal leaves the river. It has two rooms below and two
above, a stove that smokes when the wind is in the east, and a window from which a person who has
nothing better to do can watch the water for most of a day. I had nothing better to do for eleven
years, and I was paid for it.

People think that a lock is a simple thing. There are two pairs of gates, and between them a chamber
that is filled when a boat wants to go up and emptied when it wants to go down. You open the small
doors in the gates, which we call paddles, and the water does the rest. All of that is true. What
nobody tells you is that the lock remembers. If you let the water in too fast in the morning, you
will hear about it in the afternoon, when the lower pond is too high and the boat that should pass
under the stone bridge cannot. If you are careless with the upper gates in April, the meadow behind
the mill is dry in August. What you do now is paid for later, and often by somebody else.

My first teacher was a man called Brandt, who had kept the lock before me and before that had been a
sailor, though he never said on which sea. He did not explain much. He stood beside me with his
hands in his pockets and waited until I had made a mistake, and then he told me what it was going to
cost. "You have sent down a hand of water too much," he would say. "Tomorrow at noon the miller will
come and complain." And on the next day, at noon, the miller came. At first I thought that it was
magic. Then I thought that he had gone to the mill in the evening and had told the miller what to
say. It took me a whole summer to see that he only knew how long water needs to walk from one place
to another.

"A short memory is the worst thing that a keeper can have," he said to me once, when he had drunk a
little. "You turn the handle and you look at the gate. Nothing happens, so you turn it again. You
are like a man who shouts in the mountains and goes home before the echo." I have thought of this
more often than of anything else that I was taught in my life, and I was taught a good deal.

In the second year I began to write things down. I had an old ledger from the time when boats still
paid by weight, with a column for coal and a column for salt, and I used the one for what I had done
and the other for what came of it. On the third of May I raised the left paddle by two notches more
than usual. On the fourth of May nothing was to be seen. On the sixth the reeds at the bend stood
under water, and a duck moved her nest. Was it the paddle? It had also rained in the hills. To know
it, I should have had to live the same week twice, once with the two notches and once without them.
That is a thing which even the county council cannot arrange.

But there was another way, and I am still a little proud that I found it, because nobody helped me.
I could not live one week twice, but I could live many weeks once. So I made small changes, each of
them by the throw of a coin. Heads, I gave one notch more than I thought right; tails, I gave one
notch less. I wrote down the coin, and I wrote down the height of the water at the bridge, on that
day and on all the days after it. No single week told me anything. The rain was stronger than my
notches, and the rain did not care about my coin. But when I had done it for a year, I took all the
weeks that began with heads and all that began with tails, and I compared them. The rain had fallen
on both alike. What was left over was my own doing, and nothing else.

I showed it to Brandt, who was already ill at that time and sat by the stove with a blanket over his
knees. He looked at the columns for a long while. "You have added up the coins," he said at last. I
did not understand him. "Here," he said, and put a finger on the page. "When the water was high at
the bridge on Friday, you did not ask for the coin of Friday. You asked for all the coins since the
gates were last open to the river. That is right. The water does not know which day it is. It
carries the whole week on its back." I had not thought of it like this. I had only done what seemed
honest: a thing that happens on Friday may have been caused on Monday, and I had no right to leave
Monday out because it was far away.

He was silent for a time, and the stove smoked. "It will cost you something, though," he said. "The
longer the week, the more coins, and the more coins, the more noise. If you asked for Friday alone,
you would have an answer sooner." I said that it would be a wrong answer. "Yes," said Brandt. "A
wrong answer, and very sure of itself. Most people prefer that kind."

There was one more thing that I learned from the ledger, and it was the hardest, because it went
against my own pride. In the first years I used to change my way of working as soon as a column
looked good to me. A week of dry weather and a few lucky heads, and I was sure that I knew how a
lock must be kept. Then I turned everything by three notches at once, and by the time the water had
told me what it thought of this, I had already turned everything back again. In this manner one can
be busy for a long time and learn nothing at all, since the answer that arrives always belongs to a
question that one no longer asks. Brandt, when he saw it, only shook his head. "Small steps," he
said. "Be slower than the water. If the canal needs a week to answer, then do not be a different man
every morning." It is good advice, and I have tried to follow it in other matters as well, with less
success.

He died in November, when the river was low. I buried him with the help of the miller and two
bargemen, and we had to break the ground with an iron bar, because there was frost already. The
miller said some words. He said that Brandt had been a hard man, but that in thirty years he had
never had to complain without being told of it the day before, and that this was a kind of
politeness which one did not meet any more. Then we went back to the house and drank what Brandt had
left, and one of the bargemen sang.

After this I was alone with the lock. There were fewer boats each year. First the coal went by rail,
and then the salt, and then the stone; in the end there were only the pleasure boats on Sundays,
with people in white shirts who wanted to turn the handles themselves, and who did it too fast. I
let them. I had learned how much it mattered, and how little. A Sunday of white shirts was worth a
finger's breadth at the bridge on Tuesday evening, and I put it into the ledger with the rest.

A young engineer came from the city to measure the canal. He stayed for three days, slept in the
upper room, and ate a great deal. He had a very good clock and a level made of brass, and he was
polite to me, as one is to a dog of whom one is not quite sure. On the last evening I showed him my
ledgers. There were nine of them by then. He turned the pages with a wet thumb, and I saw that he
wanted to say something kind and could not think of it. "You changed the paddles at random?" he
asked. "For nine years?" I said that I had changed them by a coin, and only by one notch. "But why
did you not simply work it out? One can calculate these things. If you know the shape of the bed and
the slope, you can follow the water backwards, from the bridge to the gate, step by step, and say
exactly what each notch has done."

The miller's youngest daughter, who could already read better than her father, used to sit on the
beam of the upper gate with her feet over the water and ask me questions. Why had I written a zero
there? Because I had been ill on that day, and the paddles had stayed as they were. Did a day on
which I did nothing count as well? It counted just like the others, I said, and I was pleased that
she had asked. She wanted to throw the coin herself, and for a whole summer she came each morning
before school and threw it, with great care, as high as the roof. I have looked it up since. Her
heads and tails are no better than mine, but the handwriting in the column is, and it was the best
summer that the ledger ever had.

I told him that I believed it. I also told him that I did not know the shape of the bed, and that,
as far as I knew, nobody did, since the bed was made of mud and moved about at night. Besides, to
follow the water backwards for a week one has to keep the whole week in one's head, every gate and
every hour of it, and my head was not so large. With the coins I needed only to remember one number
for each gate: how much I had given too much, or too little, since the river was last let in.
Everything else I could forget. He thought about it. He was not stupid; he had only eaten too much.
"It is not very exact," he said. "No," I said, "it is only right."

He laughed at that, and we sat for a while by the window, although there was nothing to see but the
dark and our own faces in it. Then he asked what I had found out, after nine years, about the best
way to set the paddles. So I told him. It was neither what Brandt had taught me nor what I had
thought myself. In spring one should open them early and a little, before there is any need, and in
autumn late and all at once. For a day or two this looks foolish, and every keeper who looks only at
the gate before his nose will do the opposite and be praised for it. But at the bridge, where it
counts, the water stands a hand lower in the floods and a hand higher in the dry months, and the
meadow stays green, and the duck keeps her nest where it is.

He wrote it down in a small book with an elastic band. I do not know what became of it. In the
following year the council closed the canal, and the gates were taken out and sold for the oak that
was in them. They let me stay in the house, because no one else wanted it. The stove still smokes
when the wind is in the east. The river runs past as it did before there was a lock, in no hurry,
and it does as it likes.

Sometimes, in the evening, I still throw the coin. There is no paddle left to turn, so I go by the
left side of the garden or by the right, and afterwards I watch what happens, for as long as I can
keep it in mind. So far I have found nothing. But I have only been at it for four years, and it
would be a mistake to stop too soon. Perhaps the children who come to swim at the old wall will be a
little happier on a Friday because an old man went to the right on a Monday. It is not likely. It is
only the kind of thing that nobody ever finds out, because everybody goes home before the echo.
"""


@cache
def load() -> str:
    """The story in lower case with "_" for spaces, one paragraph per line that ends in a newline.

    The same symbols as `penn_treebank.load` uses: 10,487 characters, 35 of them different.
    """
    paragraphs = (" ".join(paragraph.split()) for paragraph in _STORY.split("\n\n"))
    return "".join(paragraph.lower().replace(" ", "_") + "\n" for paragraph in paragraphs)

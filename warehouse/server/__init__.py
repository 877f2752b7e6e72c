"""The endpoint: Spark's Thrift server in this process, on the engine's Spark, with our statements in its parser.

What runs in the JVM is Java text under ``java/``, compiled as the server starts by the compiler that Spark itself
uses (Janino): the parser that hands our statements to Python and all else to Spark, the operations that fail in our
words, the gate, the audit log. ``dialect`` answers for them in Python; ``endpoint`` puts the parts together and
starts them; ``options`` says what may be asked for and refuses what would leave a door open; ``access`` knows who may
come in.
"""

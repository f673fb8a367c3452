/** One small source change that would cost money, and the suite that must detect it. `find` occurs once in its file. */
export type Mutant = { bug: string; file: string; find: string; replace: string; suite: string }

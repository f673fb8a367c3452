import { registerHooks } from 'node:module'

// Generators of other people's types call TypeScript's JavaScript API, which TypeScript 7 does not have. Loaded before them (--import),
// this gives them TypeScript 5; their output is then compiled by this project's TypeScript.
registerHooks({ resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context) })

export type { Answer, Body, Schemas } from '../../../client/src/route-types.ts'

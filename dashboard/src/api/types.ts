export type { paths } from '../../../client/src/api.ts'
export type { Answer, Body, Schemas } from '../../../client/src/route-types.ts'

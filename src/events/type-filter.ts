import { type EventType, eventPermissions, eventTypes, resourceOf } from './types.ts'

/** The types that a reader asks for: single ones, or all of a resource. */
export type TypePattern = EventType | `${keyof typeof eventPermissions}.*`

export const typePatterns: readonly TypePattern[] = [
  ...eventTypes,
  ...Object.keys(eventPermissions).map((resource) => `${resource}.*` as TypePattern),
]

/** Whether a type is asked for. */
export type TypeFilter = (type: string) => boolean

/** Null: every type. */
export const filterOf = (patterns: readonly TypePattern[] | undefined): TypeFilter | null => {
  if (patterns === undefined) return null
  const exact = new Set<string>(patterns)
  return (type) => exact.has(type) || exact.has(`${resourceOf(type)}.*`)
}

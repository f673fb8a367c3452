type Optional<Fields> = { [Key in keyof Fields]: undefined extends Fields[Key] ? Key : never }[keyof Fields]

/** Fields that may be undefined, as fields that may be absent. */
export type Parameters<Fields> = Omit<Fields, Optional<Fields>> & {
  [Key in Optional<Fields>]?: Exclude<Fields[Key], undefined>
}

/** The parameters of a query without those that are not set. */
export const parametersOf = <const Fields extends object>(fields: Fields): Parameters<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Parameters<Fields>

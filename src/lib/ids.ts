import { newUuid, type Uuid } from './uuid.ts'

export { firstId, firstIdAt, lastId, timeOfId } from './uuid.ts'

import { compactNumber } from './text.ts'
import { decodeUuid, encodeUuid } from './uuid-text.ts'

export type { Uuid } from './uuid.ts'

/** The type that an id's prefix names. Secrets have prefixes of their own (auth/secrets.ts) and never share one of these. */
export const idPrefixes = {
  account: 'acc',
  identity: 'idn',
  passkey: 'pky',
  session: 'ses',
  api_key: 'key',
  grant: 'gra',
  oauth_client: 'oac',
  oauth_authorization: 'oaz',
  workspace: 'wsp',
  member: 'mem',
  invitation: 'inv',
  beneficiary: 'ben',
  policy: 'pol',
  payment: 'pay',
  payment_batch: 'pba',
  payment_refusal: 'rfs',
  approval: 'apr',
  mandate: 'man',
  topup: 'top',
  push_subscription: 'psh',
  event: 'evt',
  ledger: 'led',
  suspense: 'sus',
  reconciliation: 'rec',
  audit: 'aud',
  request: 'req',
} as const

export type IdKind = keyof typeof idPrefixes
export const newId = (): Uuid => newUuid()

export const formatId = (kind: IdKind, id: Uuid): string => `${idPrefixes[kind]}_${encodeUuid(id)}`

/** The UUID inside a TypeID of this kind, or undefined for any other text. */
export const parseId = (kind: IdKind, text: string): Uuid | undefined => {
  const prefix = idPrefixes[kind]
  return text.startsWith(prefix) && text[prefix.length] === '_' ? decodeUuid(text.slice(prefix.length + 1)) : undefined
}

export const isIdKind = (text: string): text is IdKind => Object.hasOwn(idPrefixes, text)

/** What is wrong with a text that resembles an id of this kind, for its sender; undefined when it does not resemble one. */
export const idProblem = (kind: IdKind, text: string): string | undefined => {
  const prefix = idPrefixes[kind]
  const lower = compactNumber(text).toLowerCase()
  if (parseId(kind, lower))
    return compactNumber(text) === text
      ? `is written in lower case: send "${lower}"`
      : `has a space or a character that is not shown: send "${lower}"`
  const other = Object.values(idPrefixes).find((known) => text.startsWith(`${known}_`))
  return other === undefined || other === prefix
    ? undefined
    : `begins with ${other}_, which names another kind of thing; send one that begins with ${prefix}_`
}

/** The UUID inside a TypeID of any kind. */
export const parseAnyId = (text: string): Uuid | undefined => {
  const kind = Object.keys(idPrefixes).find((name) => isIdKind(name) && text.startsWith(`${idPrefixes[name]}_`))
  return kind !== undefined && isIdKind(kind) ? parseId(kind, text) : undefined
}

import type { ActedEntry, Actor } from '../../../events/audit.ts'
import type { Refusal } from '../../../lib/errors.ts'

/** The audit row of a sign-in, or of a proof for a link, that was refused. */
export const refused = (actor: Actor, provider: string, { message }: Refusal): ActedEntry => ({
  actor,
  action: 'sign_in.refused',
  after: { provider, reason: message },
})

import { z } from 'zod'
import { ApiKey } from '../../delegation/grants/key-schema.ts'
import { Grant } from '../../delegation/grants/schema.ts'
import { Invitation } from '../../workspaces/invitations/schema.ts'
import { Identity } from '../identities/schema.ts'
import { Passkey } from '../passkeys/schema.ts'
import { Session } from '../sessions/schema.ts'

export const EndQuery = z.object({
  end: z.literal('everything').optional().meta({
    description:
      'After a theft: ends also what began there, except the session of this request and the method that began it. If no way to sign in would be left: 409 `last_identity`, and nothing is done.',
  }),
})

const BeganHere = z
  .object({
    identities: z.array(Identity),
    passkeys: z.array(Passkey).meta({ description: 'What could approve payments.' }),
    api_keys: z.array(ApiKey),
    grants: z.array(Grant).meta({ description: 'Of these keys, and of agents that were let in there.' }),
    invitations: z.array(Invitation).meta({ description: 'An accepted one is a member by now, who stays until removed.' }),
  })
  .meta({
    id: 'BeganHere',
    description:
      'What was added in the session, or in sessions begun by the sign-in method, and through what was added there, and lived until this request: at most the newest 100 of each. What was made before origins were kept is not known.',
  })
export type BeganHere = z.output<typeof BeganHere>

const began = {
  began_here: BeganHere.nullable().meta({ description: 'Null for a key, which is not told of what others added.' }),
}

export const EndedSession = Session.extend(began).meta({ id: 'EndedSession' })
export const UnlinkedIdentity = Identity.extend(began).meta({ id: 'UnlinkedIdentity' })

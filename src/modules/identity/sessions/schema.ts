import { z } from 'zod'
import { Assertion } from '../../../auth/passkey.ts'
import { IdOut, TimeOut } from '../../../http/wire.ts'

export const Session = z
  .object({
    id: IdOut('session'),
    status: z.enum(['active', 'revoked', 'expired']),
    current: z.boolean().meta({ description: 'The session of this request.' }),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: TimeOut,
    last_used_at: TimeOut,
    expires_at: TimeOut,
    revoked_at: TimeOut.nullable(),
  })
  .meta({ id: 'Session' })
export type Session = z.output<typeof Session>

export const Prove = z.strictObject({ passkey: Assertion }).meta({ id: 'ProveSession' })

/** The W3C's `PublicKeyCredentialRequestOptionsJSON`. */
export const ProofOptions = z
  .object({
    challenge: z.string().meta({ description: 'In base64url; it can be used once, in this session, for ten minutes.' }),
    timeout: z.number().int(),
    rpId: z.string(),
    allowCredentials: z.array(z.object({ id: z.string(), type: z.literal('public-key') })).meta({
      description: 'The passkeys that were there when the session began. Empty: prove the session by a sign-in method.',
    }),
    userVerification: z.literal('required'),
  })
  .meta({
    id: 'ProofOptions',
    description: 'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes, for `navigator.credentials.get()`.',
  })
export type ProofOptions = z.output<typeof ProofOptions>

export const Proven = z
  .object({
    proven_at: TimeOut.meta({ description: 'From then on the session may do what needs a fresh proof, for ten minutes.' }),
  })
  .meta({ id: 'Proven' })

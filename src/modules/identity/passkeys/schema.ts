import { z } from 'zod'
import { Assertion, NewCredential } from '../../../auth/passkey.ts'
import { IdOut, Name, TimeOut } from '../../../http/wire.ts'

export const Passkey = z
  .object({
    id: IdOut('passkey'),
    name: z.string(),
    credential_id: z.string().meta({
      description:
        "The authenticator's own id of it, in base64url: what `allowCredentials` takes when a browser is asked to sign.",
    }),
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
  })
  .meta({ id: 'Passkey' })
export type Passkey = z.output<typeof Passkey>

export const CreatePasskey = z
  .strictObject({ name: Name.meta({ description: 'Such as "My phone".' }), credential: NewCredential })
  .meta({ id: 'CreatePasskey' })
export type CreatePasskey = z.output<typeof CreatePasskey>

/** The W3C's `PublicKeyCredentialCreationOptionsJSON`. */
export const PasskeyOptions = z
  .object({
    rp: z
      .object({ id: z.string(), name: z.string() })
      .meta({ description: 'This service, as the authenticator knows it (WebAuthn).' }),
    user: z
      .object({
        id: z.string(),
        name: z.string(),
        displayName: z.string().meta({ description: 'The name that the authenticator shows (WebAuthn).' }),
      })
      .meta({ description: 'The account, as the authenticator knows it (WebAuthn).' }),
    challenge: z.string().meta({ description: 'In base64url; it can be used once, for ten minutes.' }),
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.number().int().min(-65_536).max(65_535) }))
      .meta({ description: 'The kinds of keys that are accepted (WebAuthn).' }),
    timeout: z.number().int(),
    excludeCredentials: z
      .array(z.object({ id: z.string(), type: z.literal('public-key') }))
      .meta({ description: 'The passkeys that the account has already (WebAuthn).' }),
    authenticatorSelection: z
      .object({
        residentKey: z.literal('required').meta({ description: 'Whether the authenticator keeps the key (WebAuthn).' }),
        requireResidentKey: z.literal(true).meta({ description: 'Whether the authenticator keeps the key (WebAuthn).' }),
        userVerification: z.literal('required'),
      })
      .meta({ description: 'Which authenticators may be used (WebAuthn).' }),
    attestation: z.literal('none').meta({ description: 'Whether the authenticator proves its make (WebAuthn).' }),
  })
  .meta({
    id: 'PasskeyOptions',
    description: 'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes, for `navigator.credentials.create()`.',
  })
export type PasskeyOptions = z.output<typeof PasskeyOptions>

export const Prove = z.strictObject({ passkey: Assertion }).meta({ id: 'ProveSession' })

/** The W3C's `PublicKeyCredentialRequestOptionsJSON`. */
export const ProofOptions = z
  .object({
    challenge: z.string().meta({ description: 'In base64url; it can be used once, in this session, for ten minutes.' }),
    timeout: z.number().int(),
    rpId: z.string().meta({ description: 'The host of this site.' }),
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

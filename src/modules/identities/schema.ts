import { z } from 'zod'
import { identityProviders } from '../../db/tables/accounts.ts'
import { IdOut, TimeOut } from '../../http/wire.ts'

export const Identity = z
  .object({
    id: IdOut('identity'),
    provider: z.enum(identityProviders),
    subject: z.string().meta({ description: "The provider's subject; for a wallet its EIP-55 address." }),
    email: z.string().nullable(),
    email_verified: z.boolean(),
    display_name: z.string().nullable(),
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
  })
  .meta({ id: 'Identity' })
export type Identity = z.output<typeof Identity>

import { z } from 'zod'
import { NamedWallet } from '../../../auth/wallet.ts'
import { workspaceKinds } from '../../../db/tables/workspaces.ts'
import { bounded, IdOut, TimeOut } from '../../../http/wire.ts'
import { Role } from '../schema.ts'

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const

export const Invitation = z
  .object({
    id: IdOut('invitation'),
    workspace_id: IdOut('workspace'),
    role: Role,
    email: z.string().nullable(),
    wallet_address: z.string().nullable(),
    status: z.enum(invitationStatuses),
    invited_by: IdOut('account'),
    accepted_by: IdOut('account').nullable(),
    created_at: TimeOut,
    expires_at: TimeOut,
    accepted_at: TimeOut.nullable(),
    revoked_at: TimeOut.nullable(),
  })
  .meta({
    id: 'Invitation',
    description: 'Without an e-mail and a wallet address it is open: every account that has its token may accept it.',
  })
export type Invitation = z.output<typeof Invitation>

export const InvitationWithToken = Invitation.extend({
  token: z.string().optional().meta({ description: 'Shown in this answer only. The account that accepts sends it.' }),
}).meta({ id: 'InvitationWithToken' })

export const CreateInvitation = z
  .strictObject({
    role: Role,
    email: bounded(254).email().optional(),
    wallet_address: NamedWallet.optional().meta({
      description:
        'The wallet of the person: its address, for one with a key of its own; `eip155:<chain>:<address>` for a contract on that chain.',
    }),
  })
  .refine((body) => body.email === undefined || body.wallet_address === undefined, {
    path: ['wallet_address'],
    message: 'cannot be combined with email: send one of the two',
  })
  .meta({ id: 'CreateInvitation' })
export type CreateInvitation = z.output<typeof CreateInvitation>

const InvitationToken = z.strictObject({ token: bounded(200).min(1) })
export const AcceptInvitation = InvitationToken.meta({ id: 'AcceptInvitation' })
export const PreviewInvitation = InvitationToken.meta({ id: 'PreviewInvitation' })

export const InvitationPreview = z
  .object({
    workspace: z.object({ id: IdOut('workspace'), name: z.string(), kind: z.enum(workspaceKinds) }),
    role: Role,
    status: z.enum(invitationStatuses),
    invited_by: z.object({ account_id: IdOut('account'), display_name: z.string().nullable() }),
    expires_at: TimeOut,
  })
  .meta({ id: 'InvitationPreview', description: 'What accepting would give; nothing is written.' })
export type InvitationPreview = z.output<typeof InvitationPreview>

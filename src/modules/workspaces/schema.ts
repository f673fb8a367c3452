import { z } from 'zod'
import { NamedWallet } from '../../auth/wallet-schemas.ts'
import { memberStatuses, roles, workspaceKinds } from '../../db/tables/workspaces.ts'
import { BodyIn, bounded, IdIn, IdOut, MinorOut, Name, RecordOut, TimeOut, VisibleText } from '../../http/wire.ts'
import { isTimeZone } from '../../policy/calendar.ts'

export const Funds = z.object({
  currency: z.string(),
  available_minor: MinorOut.describe('The amount that can be spent now.'),
  held_minor: MinorOut.describe('The amount reserved for payments in progress.'),
})

export type Funds = z.output<typeof Funds>

export const Workspace = RecordOut('Workspace', {
  id: IdOut('workspace'),
  name: z.string(),
  kind: z.enum(workspaceKinds),
  status: z.enum(['active', 'frozen', 'closed']),
  time_zone: z.string().describe('The time zone that days and months use. A new one applies from the next local month.'),
  time_zone_from: TimeOut.nullable().describe('When a changed `time_zone` takes effect; null if it was never changed.'),
  previous_time_zone: z
    .string()
    .nullable()
    .describe('The time zone that days and months use until `time_zone_from`; null if it was never changed.'),
  currency: z.string(),
  owning_account_id: IdOut('account').describe('The account that created the workspace. It never changes.'),
  balance: Funds.nullable().describe(
    'The balance that payments of the workspace use. Requires `account.read` in a personal workspace and `payment.read` in a team; otherwise null. Only the owning account can see a shared balance.',
  ),
  balance_shared: z
    .boolean()
    .describe(
      'Whether the team uses the balance of its owning account, as all teams did before version 0.4.0. `POST /v1/workspaces/current/separate-balance` gives the team its own balance.',
    ),
  created_at: TimeOut,
})
export type Workspace = z.output<typeof Workspace>

export const Role = z.enum(roles)

export const WorkspaceView = RecordOut('WorkspaceView', {
  workspace: Workspace,
  membership: z
    .object({ role: Role, status: z.enum(['active', 'invited', 'suspended']) })
    .describe('The membership of the account.'),
})
export type WorkspaceView = z.output<typeof WorkspaceView>

const TimeZone = bounded(100)
  .refine(isTimeZone, 'must be a time zone of the IANA database, as Africa/Nairobi')
  .meta({ example: 'Africa/Nairobi' })

export const CreateWorkspace = BodyIn('CreateWorkspace', { name: Name, time_zone: TimeZone.optional() })
export type CreateWorkspace = z.output<typeof CreateWorkspace>

export const UpdateWorkspace = z.strictObject({ name: Name, time_zone: TimeZone }).partial().meta({ id: 'UpdateWorkspace' })
export type UpdateWorkspace = z.output<typeof UpdateWorkspace>

export const SwitchWorkspace = BodyIn('SwitchWorkspace', { workspace_id: IdIn('workspace') })

export const reasoned = (id: string) =>
  z
    .strictObject({ reason: VisibleText(500) })
    .partial()
    .meta({ id })
    .nullish()
    .transform((body) => body ?? {})

export const FreezeWorkspace = reasoned('FreezeWorkspace')
export const SuspendWorkspace = reasoned('SuspendWorkspace')
export const ReinstateWorkspace = reasoned('ReinstateWorkspace')

const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const

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
    description: 'An invitation to a workspace. Without an email and a wallet address, any account with the token can accept it.',
  })
export type Invitation = z.output<typeof Invitation>

export const InvitationWithToken = Invitation.extend({
  token: z.string().optional().describe('The token that accepts the invitation, shown only once.'),
}).meta({ id: 'InvitationWithToken' })

export const CreateInvitation = z
  .strictObject({
    role: Role,
    email: bounded(254).email().optional(),
    wallet_address: NamedWallet.optional().describe(
      'The wallet of the person: an address, or `eip155:<chain>:<address>` for a contract wallet on that chain.',
    ),
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
  .meta({ id: 'InvitationPreview', description: 'The workspace and the role that the invitation gives.' })

export const Member = RecordOut('Member', {
  id: IdOut('member'),
  workspace_id: IdOut('workspace'),
  account_id: IdOut('account'),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  wallet_address: z.string().nullable().describe('The first linked wallet, for members without a name or an email.'),
  role: Role,
  status: z.enum([...memberStatuses, 'removed']),
  created_at: TimeOut,
  updated_at: TimeOut,
})
export type Member = z.output<typeof Member>

export const UpdateMember = z
  .strictObject({ role: Role, status: z.enum(memberStatuses) })
  .partial()
  .meta({ id: 'UpdateMember' })
export type UpdateMember = z.output<typeof UpdateMember>

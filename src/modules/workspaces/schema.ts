import { z } from 'zod'
import { NamedWallet } from '../../auth/wallet.ts'
import { memberStatuses, roles, workspaceKinds } from '../../db/tables/workspaces.ts'
import { BodyIn, bounded, IdIn, IdOut, MinorOut, Name, RecordOut, TimeOut, VisibleText } from '../../http/wire.ts'
import { isTimeZone } from '../../policy/calendar.ts'

export const Funds = z.object({
  currency: z.string(),
  available_minor: MinorOut.describe('What can be spent now.'),
  held_minor: MinorOut.describe('Reserved by payments under way.'),
})

export type Funds = z.output<typeof Funds>

export const Workspace = RecordOut('Workspace', {
  id: IdOut('workspace'),
  name: z.string(),
  kind: z.enum(workspaceKinds),
  status: z.enum(['active', 'frozen', 'closed']),
  time_zone: z.string().describe('Decides when a day and a month begin. A new one applies from the next local month.'),
  time_zone_from: TimeOut.nullable().describe(
    'From when `time_zone` decides, where it was changed: until then the one before does. Null if it was never changed.',
  ),
  currency: z.string(),
  owning_account_id: IdOut('account').describe('Who made it; never changes.'),
  balance: Funds.nullable().describe(
    'The money that its payments draw on. For readers with `account.read` in a personal workspace, with `payment.read` in a team; else null. A shared balance is shown to its owning account alone.',
  ),
  balance_shared: z
    .boolean()
    .describe(
      'Whether a team draws on the balance of its owning account, as all did before version 0.4.0. `POST /v1/workspaces/current/separate-balance` gives it one of its own.',
    ),
  created_at: TimeOut,
})
export type Workspace = z.output<typeof Workspace>

export const Role = z.enum(roles)

export const WorkspaceView = RecordOut('WorkspaceView', {
  workspace: Workspace,
  membership: z.object({ role: Role, status: z.enum(['active', 'invited', 'suspended']) }).describe('What the account is in it.'),
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
    description: 'Without an e-mail and a wallet address it is open: every account that has its token may accept it.',
  })
export type Invitation = z.output<typeof Invitation>

export const InvitationWithToken = Invitation.extend({
  token: z.string().optional().describe('Shown in this answer only. The account that accepts sends it.'),
}).meta({ id: 'InvitationWithToken' })

export const CreateInvitation = z
  .strictObject({
    role: Role,
    email: bounded(254).email().optional(),
    wallet_address: NamedWallet.optional().describe(
      'The wallet of the person: its address, for one with a key of its own; `eip155:<chain>:<address>` for a contract on that chain.',
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
  .meta({ id: 'InvitationPreview', description: 'What accepting would give; nothing is written.' })

export const Member = RecordOut('Member', {
  id: IdOut('member'),
  workspace_id: IdOut('workspace'),
  account_id: IdOut('account'),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  wallet_address: z.string().nullable().describe('The wallet that was linked first, for people without a name or an e-mail.'),
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

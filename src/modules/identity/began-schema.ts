import { z } from 'zod'
import { memberStatuses } from '../../db/tables/workspaces.ts'
import { IdOut, RecordOut, TimeOut } from '../../http/wire.ts'
import { ApiKey, Grant } from '../delegation/schema.ts'
import { Invitation, Member, Workspace } from '../workspaces/schema.ts'
import { Identity, Passkey, Session } from './schema.ts'

const LoosenedPolicy = RecordOut('LoosenedPolicy', {
  id: IdOut('policy'),
  workspace_id: IdOut('workspace'),
  name: z.string(),
  loosened_at: TimeOut.describe('When the policy was first loosened there.'),
  undo: z
    .object({
      method: z.enum(['POST', 'PATCH', 'DELETE']).describe('The HTTP method.'),
      path: z.string().describe('The path, for use in the workspace of the policy.'),
      body: z.record(z.string(), z.unknown()).nullable().describe('The body; null if there is none.'),
    })
    .describe('The request that restores or recreates the policy, or withdraws the pending change.'),
})

const BeganHere = z
  .object({
    identities: z.array(Identity),
    passkeys: z.array(Passkey).describe('Passkeys that could approve payments.'),
    api_keys: z.array(ApiKey),
    grants: z.array(Grant).describe('Grants of these keys, and of agents authorized there.'),
    invitations: z.array(Invitation).describe('Invitations sent there. Accepted ones appear in `members`.'),
    members: z
      .array(Member)
      .describe(
        'Members who joined through these invitations, or through invitations by such members. `end=everything` suspends them.',
      ),
    roles: z
      .array(
        Member.extend({
          role_before: Member.shape.role.describe('The previous role.'),
          status_before: z.enum(memberStatuses).describe('The previous status.'),
          raised_at: TimeOut.describe('When the role was first raised there.'),
        }).meta({ id: 'RaisedMember' }),
      )
      .describe('Members whose role was raised or whose suspension was lifted. `end=everything` reverts this.'),
    workspaces: z.array(Workspace).describe('Workspaces created there. `end=everything` freezes them.'),
    widened: z.array(Grant).describe('Older grants that were widened or unfrozen. `end=everything` freezes them.'),
    loosened: z
      .array(LoosenedPolicy)
      .describe('Policies that are or will be looser. A person can revert this with the request in `undo`.'),
  })
  .meta({
    id: 'BeganHere',
    description:
      'Everything added in the session or in the sessions of the sign-in method, directly or through other additions, if it existed until this request. Up to the newest 100 of each kind. Additions from before the service recorded origins are missing. Nothing is listed from a workspace that the account has left, and no invitations and no grants of other members from one that it no longer manages.',
  })
export type BeganHere = z.output<typeof BeganHere>

const began = {
  began_here: BeganHere.nullable().describe('Null for API keys, which cannot see what others added.'),
}

export const EndedSession = Session.extend(began).meta({ id: 'EndedSession' })
export const UnlinkedIdentity = Identity.extend(began).meta({ id: 'UnlinkedIdentity' })

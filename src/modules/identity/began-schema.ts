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
  loosened_at: TimeOut.describe('When it was first loosened there.'),
  undo: z
    .object({
      method: z.enum(['POST', 'PATCH', 'DELETE']).describe('Its method.'),
      path: z.string().describe('Its path, in the workspace of the policy.'),
      body: z.record(z.string(), z.unknown()).nullable().describe('Its body; null for none.'),
    })
    .describe('The request that gives the policy its terms back, creates it again, or withdraws what waits.'),
})

const BeganHere = z
  .object({
    identities: z.array(Identity),
    passkeys: z.array(Passkey).describe('What could approve payments.'),
    api_keys: z.array(ApiKey),
    grants: z.array(Grant).describe('Of these keys, and of agents that were let in there.'),
    invitations: z.array(Invitation).describe('An accepted one made a member: see `members`.'),
    members: z
      .array(Member)
      .describe('People who came by these invitations, or by those of such people. `end=everything` suspends them.'),
    roles: z
      .array(
        Member.extend({
          role_before: Member.shape.role.describe('Its role before.'),
          status_before: z.enum(memberStatuses).describe('Its status before.'),
          raised_at: TimeOut.describe('When it was first raised there.'),
        }).meta({
          id: 'RaisedMember',
        }),
      )
      .describe('Members whose role was raised, or whose suspension was lifted. `end=everything` undoes that.'),
    workspaces: z.array(Workspace).describe('Made there. `end=everything` freezes them.'),
    widened: z
      .array(Grant)
      .describe('Grants that were there before, and were widened or unfrozen. `end=everything` freezes them.'),
    loosened: z
      .array(LoosenedPolicy)
      .describe('Policies that are looser than before, or will be. A person undoes that, with the request in `undo`.'),
  })
  .meta({
    id: 'BeganHere',
    description:
      'What was added in the session, or in sessions begun by the sign-in method, and through what was added there, and lived until this request: at most the newest 100 of each. What was made before origins were kept is not known.',
  })
export type BeganHere = z.output<typeof BeganHere>

const began = {
  began_here: BeganHere.nullable().describe('Null for a key, which is not told of what others added.'),
}

export const EndedSession = Session.extend(began).meta({ id: 'EndedSession' })
export const UnlinkedIdentity = Identity.extend(began).meta({ id: 'UnlinkedIdentity' })

import { z } from 'zod'
import { permissions } from '../../auth/permissions.ts'
import { IdOut, MinorOut, RecordOut, TimeOut } from '../../http/wire.ts'
import { Grant } from '../delegation/schema.ts'
import { Role } from '../workspaces/schema.ts'

export const Credential = RecordOut('Credential', {
  account_id: IdOut('account'),
  workspace_id: IdOut('workspace'),
  role: Role.nullable().describe('Of the account in the workspace; null if it is no longer a member.'),
  permissions: z.array(z.enum(permissions)).describe('Those of the account and of the role, limited to those of the grant.'),
  is_admin: z.boolean().describe('Whether it administers the service.'),
  grant: Grant.nullable().describe('What was delegated; null for a person in their own session.'),
  headroom: Grant.shape.headroom
    .extend({
      approval_from_minor: MinorOut.nullable().describe('A payment of this much or more needs an approval.'),
    })
    .describe(
      'How much the strictest limit of the grant, of every grant above it and of the policies that apply to every payment leaves; null if there is no such limit. Policies for certain beneficiaries or types may leave less: use the simulation.',
    ),
  expires_at: TimeOut.nullable().describe('When the credential expires.'),
})
export type Credential = z.output<typeof Credential>

import { z } from 'zod'
import { permissions } from '../../auth/permissions.ts'
import { IdOut, MinorOut, RecordOut, TimeOut } from '../../http/wire.ts'
import { Grant } from '../delegation/schema.ts'
import { Role } from '../workspaces/schema.ts'

export const Credential = RecordOut('Credential', {
  account_id: IdOut('account'),
  workspace_id: IdOut('workspace'),
  role: Role.nullable().describe('The role of the account in the workspace; null if it is no longer a member.'),
  permissions: z.array(z.enum(permissions)).describe('The permissions of the account and role, limited to those of the grant.'),
  is_admin: z.boolean().describe('Whether the account is an administrator of the service.'),
  grant: Grant.nullable().describe('The grant of the key or agent; null for a person in their own session.'),
  headroom: Grant.shape.headroom
    .extend({
      approval_from_minor: MinorOut.nullable().describe('Payments of this amount or more need an approval.'),
    })
    .describe(
      'The remaining amount under the strictest limit of the grant, its parent grants and the policies that apply to every payment. Policies for certain beneficiaries or types may allow less: use the simulation. Without an active membership, only the limits of the grants count.',
    ),
  expires_at: TimeOut.nullable().describe('When the credential expires.'),
})
export type Credential = z.output<typeof Credential>

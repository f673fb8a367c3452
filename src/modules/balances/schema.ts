import { z } from 'zod'
import { BodyIn, IdOut, MinorIn, MinorOut, RecordOut, TimeOut } from '../../http/wire.ts'
import { confirmationOf } from '../identity/passkeys/signed-text-service.ts'
import { WorkspaceView } from '../workspaces/schema.ts'

export const SeparateBalance = BodyIn('SeparateBalance', {
  amount_minor: MinorIn.describe(
    'The amount of the shared balance that moves to the new balance of the workspace; `"0"` moves nothing.',
  ),
})

export const PendingSeparation = RecordOut('PendingSeparation', {
  workspace_id: IdOut('workspace').describe('The workspace that gets its own balance.'),
  amount_minor: MinorOut,
  message: z.string().describe('The exact text that confirms the separation, byte for byte.'),
  requested_by: IdOut('account').describe('The account that requested it.'),
  effective_at: TimeOut.describe(
    'When the separation takes effect without confirmation. If a policy requires a signature, an unconfirmed separation is withdrawn at this time instead.',
  ),
})
export type PendingSeparation = z.output<typeof PendingSeparation>

export const SeparationView = WorkspaceView.extend({
  pending_separation: PendingSeparation.nullable().describe('The pending separation; null if there is none.'),
}).meta({
  id: 'SeparationView',
})

export const ConfirmSeparation = confirmationOf('ConfirmSeparation', 'pending_separation.message')

export type SeparationView = z.output<typeof SeparationView>

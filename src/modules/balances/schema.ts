import { z } from 'zod'
import { BodyIn, IdOut, MessageDigest, MinorIn, MinorOut, RecordOut, TimeOut } from '../../http/wire.ts'
import { signedText } from '../identity/passkeys/signed-text-service.ts'
import { WorkspaceView } from '../workspaces/schema.ts'

export const SeparateBalance = BodyIn('SeparateBalance', {
  amount_minor: MinorIn.describe('How much of the shared balance becomes the workspace’s own.'),
})

export const PendingSeparation = RecordOut('PendingSeparation', {
  workspace_id: IdOut('workspace').describe('The workspace that gets its own balance.'),
  amount_minor: MinorOut,
  message: z.string().describe('The text that confirms it, byte for byte.'),
  requested_by: IdOut('account'),
  effective_at: TimeOut.describe(
    'When it takes effect without a confirmation, where no rule asks for a signature; else it is withdrawn then.',
  ),
})
export type PendingSeparation = z.output<typeof PendingSeparation>

export const SeparationView = WorkspaceView.extend({
  pending_separation: PendingSeparation.nullable().describe('What waits to be confirmed, or for its time; null if nothing does.'),
}).meta({
  id: 'SeparationView',
})

export const ConfirmSeparation = BodyIn('ConfirmSeparation', {
  ...signedText('pending_separation.message'),
  message_digest: MessageDigest.optional().describe(
    'The SHA-256 of the `pending_separation.message` that was shown, in hexadecimal: 409 `message_changed` for another text.',
  ),
})
export type ConfirmSeparation = z.output<typeof ConfirmSeparation>

export type SeparationView = z.output<typeof SeparationView>

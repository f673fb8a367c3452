import type { OperationTexts } from '../../http/operation-text.ts'

export const policiesOperations = {
  'policies.create': {
    summary: 'Create a spending policy',
    text: 'Adds a rule to the workspace: limits per payment, day and month, an amount from which approval is needed, and what it applies to. It takes effect at once and can only make the rules stricter: all policies that apply are evaluated, and the strictest decides. Test it with the simulation first.',
  },
  'policies.list': {
    summary: 'List spending policies',
    text: 'The policies of the workspace. Archived ones are left out unless they are requested.',
  },
  'policies.get': { summary: 'Read a spending policy', text: 'One policy with its version, which a change must name.' },
  'policies.update': {
    summary: 'Change a spending policy',
    text: 'Fields that are left out keep their value, `null` removes a limit. `version` must be the one that was read, so that two people who change the policy at the same time do not overwrite each other (409). Payments that wait for approval are decided again before they are sent. Where the policy asks for two approvals, separation of duties or signatures and another member may decide, a change that makes it less strict waits (202, `pending_change`) for 24 hours, or until another approver confirms it.',
  },
  'policies.archive': {
    summary: 'Archive a spending policy',
    text: 'Ends a policy. Decisions that it took part in still name the version that decided. It waits (202) in the same cases as a change that makes the policy less strict.',
  },
  'policies.confirm_change': {
    summary: 'Confirm a waiting change',
    text: 'A second approver agrees to the `pending_change` of a policy, which then holds at once. Not the account that asked for it, and only an approver whose role is older than the policy or than 24 hours. Where the policy asks for signatures, a passkey or a linked wallet signs `pending_change.message`.',
  },
  'policies.withdraw_change': {
    summary: 'Withdraw a waiting change',
    text: 'Ends the `pending_change` of a policy, which stays as it is. Any approver may, and the account that asked for the change.',
  },
} satisfies OperationTexts

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
    text: 'Fields that are left out keep their value, `null` removes a limit. `version` must be the one that was read, so that two people who change the policy at the same time do not overwrite each other (409). Payments that wait for approval are decided again before they are sent.',
  },
  'policies.archive': {
    summary: 'Archive a spending policy',
    text: 'Ends a policy. Decisions that it took part in still name the version that decided.',
  },
} satisfies OperationTexts

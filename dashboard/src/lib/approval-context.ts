import type { Schemas } from '../api/types.ts'

export type ApprovalContext = {
  payee: { payments_count: number; last_paid_at: string | null; typical_amount_minor: string | null }
  available_after_minor: string | null
  eligible_approvers: string[]
}

export type Warning = { payment_id: string; created_at: string }

/** What a list leaves out and one approval tells. */
export const contextOf = (approval: Schemas['Approval']): ApprovalContext | null =>
  'context' in approval ? (approval.context as ApprovalContext) : null

export const warningsOf = (decision: object): Warning[] =>
  'warnings' in decision && Array.isArray(decision.warnings) ? (decision.warnings as Warning[]) : []

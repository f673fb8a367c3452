import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, inWorkspace } from '../../api/client.ts'
import { isTextChanged } from '../../api/error.ts'
import { approvalQuery, passkeysQuery, type Schemas } from '../../api/queries.ts'
import { digestOfText } from '../../lib/approval-message.ts'
import { approvalSubject, type Choice, decidedWords } from '../../lib/approval-subject.ts'
import { chooseNotify } from '../../lib/notify.ts'
import { countWords } from '../../lib/words.ts'
import { hasPasskeys, signWithPasskey } from '../../passkey/passkey.ts'
import { announce } from '../../ui/toast.tsx'

type Approval = Schemas['Approval']

/** "2 payments approved"; those that need another approval are counted apart. */
const bulkWords = (approvals: readonly Approval[]): string => {
  const count = (status: Approval['status']) => approvals.filter((approval) => approval.status === status).length
  const parts = [
    [count('approved'), 'approved'],
    [count('rejected'), 'rejected'],
    [count('pending'), 'approved by you, waiting for another approval'],
  ] as const
  return parts
    .filter(([number]) => number > 0)
    .map(([number, outcome]) => `${countWords(number, 'payment')} ${outcome}`)
    .join('. ')
}

/** Updates the pages after a decision, before the stream does. */
export const useAfterDecision = () => {
  const client = useQueryClient()
  return (approvals: readonly Approval[]) => {
    for (const approval of approvals)
      client.setQueryData(approvalQuery(approval.id).queryKey, (before) => ({ ...before, ...approval }))
    if (approvals.some(({ status }) => status !== 'rejected')) chooseNotify({ approved: true })
    for (const name of ['inbox', 'approvals', 'payments', 'payment']) void client.invalidateQueries({ queryKey: [name] })
    const [only] = approvals
    if (approvals.length > 1) announce(bulkWords(approvals))
    else if (only) announce(decidedWords(only))
  }
}

type How = Pick<Schemas['DecideApproval'], 'reason' | 'passkey'>

/** With the digest of the text that was shown: one that has changed since is not decided. */
const decideOne = async (approval: Approval, choice: Choice, how: How): Promise<Approval> => {
  const message_digest = await digestOfText(approval.signing[choice])
  return api.POST('/v1/approvals/{id}/decide', {
    path: { id: approval.id },
    body: { decision: choice, ...how, ...(message_digest && { message_digest }) },
    ...inWorkspace(approvalSubject(approval).workspaceId),
  })
}

/** One after the other, each by itself: where one is refused, those before it are decided and those after it are not. */
export const useDecide = (approvals: readonly Approval[], choice: Choice, done: () => void) => {
  const client = useQueryClient()
  const after = useAfterDecision()
  /** Reads again what someone else has decided, or what has changed, meanwhile. */
  const refresh = () => {
    for (const name of ['inbox', 'approvals', 'approval', 'payment']) void client.invalidateQueries({ queryKey: [name] })
  }
  /** How many were decided before one was refused. */
  const [made, setMade] = useState(0)
  const decide = useMutation({
    mutationFn: async (reason: string) => {
      const decided: Approval[] = []
      try {
        for (const approval of approvals)
          decided.push(await decideOne(approval, choice, reason.trim() ? { reason: reason.trim() } : {}))
      } finally {
        setMade(decided.length)
        if (decided.length > 0) after(decided)
      }
    },
    onSuccess: done,
    onError: (error) => {
      if (isTextChanged(error)) refresh()
    },
  })
  return { ...decide, made, refresh }
}

/** The person's passkeys, where this browser can use one. */
export const useOwnPasskeys = (): readonly Schemas['Passkey'][] => {
  const { data } = useQuery({ ...passkeysQuery, enabled: hasPasskeys() })
  return data?.data ?? []
}

/** Signs the approval's text on this device, and decides with it. */
export const useDecideByPasskey = (
  approval: Approval,
  passkeys: readonly Schemas['Passkey'][],
  onDecided: (approval: Approval) => void,
) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (choice: Choice) => {
      const passkey = await signWithPasskey(approval.signing[choice], passkeys)
      return decideOne(approval, choice, { passkey })
    },
    onSuccess: onDecided,
    onError: (error) => {
      if (isTextChanged(error)) void client.invalidateQueries({ queryKey: ['approval'] })
    },
  })
}

import { useMutation, useQuery } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { inWorkspace } from '../../api/in-workspace.ts'
import { passkeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { hasPasskeys, signWithPasskey } from '../../passkey/passkey.ts'
import type { Choice } from './decided-words.ts'

type Approval = Schemas['Approval']

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
) =>
  useMutation({
    mutationFn: async (choice: Choice) => {
      const passkey = await signWithPasskey(approval.signing[choice], passkeys)
      return call(
        api.POST('/v1/approvals/{id}/decide', {
          params: { path: { id: approval.id } },
          body: { decision: choice, passkey },
          ...inWorkspace(approvalSubject(approval).workspaceId),
        }),
      )
    },
    onSuccess: onDecided,
  })

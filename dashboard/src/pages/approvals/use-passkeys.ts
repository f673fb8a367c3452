import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { isTextChanged } from '../../api/error.ts'
import { passkeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { hasPasskeys, signWithPasskey } from '../../passkey/passkey.ts'
import type { Choice } from './decided-words.ts'
import { decideOne } from './use-decide.ts'

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

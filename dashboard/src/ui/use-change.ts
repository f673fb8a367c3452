import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { adviceFor, messageOf } from '../api/advice.ts'
import { useIdempotencyKey } from '../lib/idempotency.ts'
import { announce } from './toast.tsx'

/** A change that a form makes: how it is sent, and what is shown of it meanwhile and after it has failed. */
export type Making = { isPending: boolean; error: unknown; mutate: () => void }

type Settings<Result, Input> = {
  /** What is announced once the change is made. */
  announcement?: string | ((result: Result) => string)
  /** The queries to read again, by the first part of their keys: after a failure too, as a part of the change may have been made. */
  outdates?: readonly string[]
  /** The query that the result answers. */
  keeps?: (result: Result) => { queryKey: QueryKey }
  onDone?: (result: Result, input: Input) => void
  /** Where the page has no place for a failure, it is announced. */
  announcesFailure?: boolean
}

/** A change that the service makes. `keyed`: a body with its idempotency key, the same one while the body is. */
export const useChange = <Result, Input = void>(
  change: (keyed: ReturnType<typeof useIdempotencyKey>, input: Input) => Promise<Result>,
  { announcement, outdates = [], keeps, onDone, announcesFailure = false }: Settings<Result, Input> = {},
) => {
  const client = useQueryClient()
  const keyed = useIdempotencyKey()
  return useMutation({
    mutationFn: (input: Input) => change(keyed, input),
    onSuccess: (result, input) => {
      if (announcement !== undefined) announce(typeof announcement === 'string' ? announcement : announcement(result))
      if (keeps) client.setQueryData(keeps(result).queryKey, result)
      onDone?.(result, input)
    },
    onError: (error) => {
      if (announcesFailure) announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad')
    },
    onSettled: () => {
      for (const name of outdates) void client.invalidateQueries({ queryKey: [name] })
    },
  })
}

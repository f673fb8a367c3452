import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'
import { announce } from './toast.tsx'

type ConfirmProps<Result> = {
  title: string
  children: ReactNode
  action: string
  /** The label of the other button, where "Cancel" could mean the action itself. */
  keep?: string
  harmless?: boolean
  change: () => Promise<Result>
  /** What is announced once the change is made. */
  announcement: (result: Result) => string
  /** The queries to read again, by the first part of their keys. */
  outdates?: readonly string[]
  onChanged?: (result: Result) => void
  onClose: () => void
}

/** Says what a change does, makes it once it is confirmed, announces it and closes. */
export const Confirm = <Result,>({
  title,
  children,
  action,
  keep = 'Cancel',
  harmless = false,
  change,
  announcement,
  outdates = [],
  onChanged,
  onClose,
}: ConfirmProps<Result>) => {
  const client = useQueryClient()
  const making = useMutation({
    mutationFn: change,
    onSuccess: (result) => {
      announce(announcement(result))
      onClose()
      onChanged?.(result)
    },
    // After a failure too: a part of the change may have been made.
    onSettled: () => {
      for (const name of outdates) void client.invalidateQueries({ queryKey: [name] })
    },
  })
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (!making.isPending) making.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button type="submit" variant={harmless ? 'primary' : 'red'} busy={making.isPending}>
            {action}
          </Button>
        </>
      }
    >
      <div className="quiet stack-s">{children}</div>
      <Failure error={making.error} />
    </Dialog>
  )
}

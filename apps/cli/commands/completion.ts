// `qjob completion`: prints a script that completes commands and options in a shell, made from the tree of commands.
import { Argument, type Command } from 'commander'
import { bashCompletion, fishCompletion, zshCompletion } from '../terminal/completion.js'

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }
type Shell = keyof typeof scripts

const help =
  '\nbash: qjob completion bash > ~/.local/share/bash-completion/completions/qjob; ' +
  'zsh: add source <(qjob completion zsh) to ~/.zshrc; fish: qjob completion fish > ~/.config/fish/completions/qjob.fish'

export function addCompletionCommand(program: Command, wholeProgram: () => Promise<Command>): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .addHelpText('after', help)
    .action(async (shell: Shell) => void process.stdout.write(scripts[shell](await wholeProgram())))
}

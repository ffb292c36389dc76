/**
 * Which environment variables the input of an exec run may set: only those in the operator's list of names. As a second
 * defence, the patterns below forbid variables that make a loader, shell, interpreter or common tool run other code,
 * even if the operator lists such a variable by mistake. The patterns do not cover every program.
 */

const loader = [
  'LD_*', 'DYLD_*', '_RLD*', 'LIBPATH', 'SHLIB_PATH', 'GLIBC_*', 'GCONV_PATH', 'GETCONF_DIR', 'LOCPATH', 'NLSPATH',
  'MALLOC_*', 'HOSTALIASES', 'LOCALDOMAIN', 'RES_OPTIONS', 'RESOLV_*', 'NIS_PATH', 'TZDIR', 'OPENSSL_*',
  'SSLKEYLOGFILE',
];
const shells = [
  'PATH', 'PATHEXT', 'COMSPEC', 'SHELL', 'SHELLOPTS', 'BASH*', 'ENV', 'IFS', 'CDPATH', 'FPATH', 'GLOBIGNORE', 'PS[0-9]',
  'PROMPT*', 'KSH*', 'ZDOTDIR', 'ZSH*', 'INPUTRC', 'TERMINFO*', 'TERMCAP',
];
/** Variables that name directories with settings of programs. A setting can contain a command that is executed. */
const homeFolders = [
  'HOME', 'HOMEDRIVE', 'HOMEPATH', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'SYSTEMROOT', 'WINDIR', 'XDG_*',
];
const interpreters = [
  'NODE_OPTIONS', 'NODE_PATH', 'NODE_V8_*', 'NODE_EXTRA_*', 'NODE_REPL_*', 'NPM_*', 'YARN_*', 'PNPM_*', 'BUN_*',
  'DENO_*',
  'PYTHON*', 'PIP_*', 'VIRTUAL_ENV', 'PERL*', 'RUBY*', 'GEM_*', 'BUNDLE_*', 'PHP*', 'LUA_*', 'JAVA_*', '_JAVA_*',
  'JDK_*',
  'CLASSPATH', 'MAVEN_*', 'GRADLE_*', 'DOTNET_*', 'CORECLR_*', 'COMPLUS_*', 'MONO_*', 'ERL_*', 'ELIXIR_*', 'JULIA_*',
  'R_*',
  'TCL*', 'GUILE_*', 'GHC*', 'GOFLAGS', 'GODEBUG', 'GOENV', 'CARGO*', 'RUST*', 'MAKE*', 'CC', 'CXX', 'LUAROCKS*',
];
const tools = [
  'GIT_*', 'SSH_*', 'SVN_*', 'HG*', 'CVS_*', 'RSYNC_*', 'SUDO_*', 'EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'BROWSER',
  'LESS*',
  'TAR_OPTIONS', 'AWKPATH', 'AWKLIBPATH', 'PSQL*', 'PGSYSCONFDIR', 'PGSERVICEFILE', 'MYSQL_HOME', 'AWS_CONFIG_FILE',
  'KUBECONFIG', 'DOCKER_*', 'CURL_HOME', 'WGETRC', 'GTK_*', 'GIO_*', 'GST_*', 'QT_*', 'MAGICK_*', 'GS_*', 'VIM*',
  'EMACS*',
];
const closed = patternOf([...loader, ...shells, ...homeFolders, ...interpreters, ...tools]);

/** Returns why the input may not set this variable, and what to do instead; null: the input may set it. */
export function envNameIssue(name: string, allowed: ReadonlySet<string>): string | null {
  if (!isEnvName(name)) {
    return 'the name of a variable has letters, digits and _, and does not begin with a digit: correct it';
  }
  if (isReservedName(name)) return 'names that begin with STINT_ are set by Stint: leave it out';
  if (closed.test(name)) {
    return `${name} can make a program run other code, so no run may set it: leave it out; the operator can set it with --exec-env`;
  }
  if (allowed.has(name)) return null;
  return `${name} is not a variable that a run may set: leave it out, or ask the operator for --exec-env-allow ${name}`;
}

export function envValueIssue(name: string, value: string): string | null {
  // A value that begins with () defines a function in bash. A bash with the Shellshock bug (CVE-2014-6271) executes the
  // text after the function.
  return value.trimStart().startsWith('()')
    ? `the value of ${name} looks like a function of a shell: do not begin it with ()`
    : null;
}

export const isEnvName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,200}$/.test(name);
export const isReservedName = (name: string): boolean => name.toUpperCase().startsWith('STINT_');

/** Matches names regardless of case: Windows ignores the case of variables, and npm reads both NPM_ and npm_ names. */
function patternOf(globs: readonly string[]): RegExp {
  return new RegExp(`^(?:${globs.map((glob) => glob.replaceAll('*', '.*')).join('|')})$`, 'i');
}

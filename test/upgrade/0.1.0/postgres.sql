
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA stint;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE stint.chunk (
    job bigint NOT NULL,
    upto bigint NOT NULL,
    lines text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE stint.counter (
    name text NOT NULL,
    value bigint NOT NULL
);

CREATE TABLE stint.ended (
    id bigint NOT NULL,
    version bigint NOT NULL,
    parent bigint,
    created bigint NOT NULL,
    ended_at bigint NOT NULL,
    purge_at bigint,
    kind text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    def text COLLATE pg_catalog."C",
    fate text NOT NULL COLLATE pg_catalog."C",
    input text NOT NULL COLLATE pg_catalog."C",
    result text COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    history text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', vacuum_truncate='false');

CREATE TABLE stint.feed (
    told xid8 NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    count integer NOT NULL,
    events text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY stint.feed ALTER COLUMN events SET STORAGE EXTERNAL;

ALTER TABLE stint.feed ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME stint.feed_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE stint.instance (
    id text NOT NULL COLLATE pg_catalog."C",
    started bigint NOT NULL,
    beat_at bigint NOT NULL,
    lease_until bigint NOT NULL,
    about text NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE stint.job (
    id bigint NOT NULL,
    version bigint NOT NULL,
    parent bigint,
    created bigint NOT NULL,
    priority bigint NOT NULL,
    due bigint NOT NULL,
    fence bigint NOT NULL,
    lease_until bigint,
    told xid8 DEFAULT pg_current_xact_id() NOT NULL,
    admitted smallint NOT NULL,
    cancel_asked smallint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    def text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    hold text COLLATE pg_catalog."C",
    phase text NOT NULL COLLATE pg_catalog."C",
    holder text COLLATE pg_catalog."C",
    gate text COLLATE pg_catalog."C",
    input text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    history text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='1', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='1000', vacuum_truncate='false');

CREATE TABLE stint.leader (
    role text NOT NULL COLLATE pg_catalog."C",
    leader text NOT NULL COLLATE pg_catalog."C",
    term bigint NOT NULL,
    until bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE stint.log (
    job bigint NOT NULL,
    n bigint NOT NULL,
    at bigint NOT NULL,
    level text NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE stint.meta (
    version integer NOT NULL
);

CREATE TABLE stint.progress (
    job bigint NOT NULL,
    tree text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE stint.staged (
    parent bigint NOT NULL,
    fence bigint NOT NULL,
    first bigint NOT NULL,
    count integer NOT NULL,
    packed text[] NOT NULL,
    way text,
    shape text,
    events text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY stint.staged ALTER COLUMN packed SET STORAGE EXTERNAL;
ALTER TABLE ONLY stint.staged ALTER COLUMN events SET STORAGE EXTERNAL;

CREATE TABLE stint.taken (
    key text NOT NULL COLLATE pg_catalog."C",
    job bigint NOT NULL,
    until bigint
)
WITH (vacuum_truncate='false');

INSERT INTO stint.chunk VALUES
	(1079, 31, '[{"n":1,"at":1794954321560,"by":"second","kind":"created","due":4102444800000,"priority":0}]
[{"n":2,"at":1794954321652,"by":"ada","why":"edit 1","kind":"edited","edit":{"priority":1}}]
[{"n":3,"at":1794954321688,"by":"ada","why":"edit 2","kind":"edited","edit":{"priority":2}}]
[{"n":4,"at":1794954321694,"by":"ada","why":"edit 3","kind":"edited","edit":{"priority":3}}]
[{"n":5,"at":1794954321706,"by":"ada","why":"edit 4","kind":"edited","edit":{"priority":4}}]
[{"n":6,"at":1794954321729,"by":"ada","why":"edit 5","kind":"edited","edit":{"priority":5}}]
[{"n":7,"at":1794954321750,"by":"ada","why":"edit 6","kind":"edited","edit":{"priority":6}}]
[{"n":8,"at":1794954321761,"by":"ada","why":"edit 7","kind":"edited","edit":{"priority":7}}]
[{"n":9,"at":1794954321770,"by":"ada","why":"edit 8","kind":"edited","edit":{"priority":8}}]
[{"n":10,"at":1794954321784,"by":"ada","why":"edit 9","kind":"edited","edit":{"priority":9}}]
[{"n":11,"at":1794954321798,"by":"ada","why":"edit 10","kind":"edited","edit":{"priority":10}}]
[{"n":12,"at":1794954321803,"by":"ada","why":"edit 11","kind":"edited","edit":{"priority":11}}]
[{"n":13,"at":1794954321867,"by":"ada","why":"edit 12","kind":"edited","edit":{"priority":12}}]
[{"n":14,"at":1794954321882,"by":"ada","why":"edit 13","kind":"edited","edit":{"priority":13}}]
[{"n":15,"at":1794954321907,"by":"ada","why":"edit 14","kind":"edited","edit":{"priority":14}}]
[{"n":16,"at":1794954321917,"by":"ada","why":"edit 15","kind":"edited","edit":{"priority":15}}]
[{"n":17,"at":1794954322032,"by":"ada","why":"edit 16","kind":"edited","edit":{"priority":16}}]
[{"n":18,"at":1794954322228,"by":"ada","why":"edit 17","kind":"edited","edit":{"priority":17}}]
[{"n":19,"at":1794954322239,"by":"ada","why":"edit 18","kind":"edited","edit":{"priority":18}}]
[{"n":20,"at":1794954322252,"by":"ada","why":"edit 19","kind":"edited","edit":{"priority":19}}]
[{"n":21,"at":1794954322275,"by":"ada","why":"edit 20","kind":"edited","edit":{"priority":20}}]
[{"n":22,"at":1794954322287,"by":"ada","why":"edit 21","kind":"edited","edit":{"priority":21}}]
[{"n":23,"at":1794954322402,"by":"ada","why":"edit 22","kind":"edited","edit":{"priority":22}}]
[{"n":24,"at":1794954322542,"by":"ada","why":"edit 23","kind":"edited","edit":{"priority":23}}]
[{"n":25,"at":1794954322888,"by":"ada","why":"edit 24","kind":"edited","edit":{"priority":24}}]
[{"n":26,"at":1794954322959,"by":"ada","why":"edit 25","kind":"edited","edit":{"priority":25}}]
[{"n":27,"at":1794954322973,"by":"ada","why":"edit 26","kind":"edited","edit":{"priority":26}}]
[{"n":28,"at":1794954322986,"by":"ada","why":"edit 27","kind":"edited","edit":{"priority":27}}]
[{"n":29,"at":1794954322999,"by":"ada","why":"edit 28","kind":"edited","edit":{"priority":28}}]
[{"n":30,"at":1794954323004,"by":"ada","why":"edit 29","kind":"edited","edit":{"priority":29}}]
[{"n":31,"at":1794954323009,"by":"ada","why":"edit 30","kind":"edited","edit":{"priority":30}}]');

INSERT INTO stint.counter VALUES
	('id', 1127);

INSERT INTO stint.ended VALUES
	(5, 3, NULL, 1794954315730, 1794954316415, NULL, 'run', 'greet', NULL, 'succeeded', '{"name":"Ada"}', '{"hello":"Ada"}', '{"changed":1794954316415,"attempt":1,"startedAt":1794954316328,"tags":{"case":"succeeded"},"due":1794954315729,"fence":1}', '[{"n":1,"at":1794954315730,"by":"first","kind":"created","due":1794954315729,"priority":0}]
[{"n":2,"at":1794954316328,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954316415,"by":"first","kind":"succeeded"}]'),
	(6, 2, NULL, 1794954316435, 1794954316454, NULL, 'run', 'greet', NULL, 'cancelled', '{"name":"x"}', NULL, '{"changed":1794954316454,"cancel":{"by":"ada","at":1794954316454,"code":"user","why":"no longer needed","fate":"cancelled","stopAt":null},"tags":{"case":"cancelled"},"due":4102444800000}', '[{"n":1,"at":1794954316435,"by":"first","kind":"created","due":4102444800000,"priority":0}]
[{"n":2,"at":1794954316454,"by":"ada","why":"no longer needed","kind":"cancelled","code":"user"}]'),
	(7, 3, NULL, 1794954316463, 1794954316483, 2110314316483, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"cancel","job":6,"def":null,"before":{"id":6,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954316435,"due":4102444800000,"priority":0,"tags":{"case":"cancelled"},"attempt":0,"isCancelAsked":false},"after":{"id":6,"kind":"run","type":"greet","def":null,"standing":"cancelled","created":1794954316435,"due":4102444800000,"priority":0,"tags":{"case":"cancelled"},"attempt":0,"isCancelAsked":true},"why":"no longer needed"}', NULL, '{"changed":1794954316483,"attempt":1,"startedAt":1794954316474,"policy":{"retentionMs":315360000000},"tags":{"action":"cancel","by":"ada","job":"6"},"fence":1}', '[{"n":1,"at":1794954316463,"by":"ada","kind":"created","due":1794954316463,"priority":0}]
[{"n":2,"at":1794954316474,"by":"ada","why":"no longer needed","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954316483,"by":"ada","why":"no longer needed","kind":"succeeded"}]'),
	(8, 3, NULL, 1794954316491, 1794954316561, NULL, 'run', 'forever', NULL, 'cancelled', 'null', NULL, '{"changed":1794954316561,"attempt":1,"startedAt":1794954316491,"cancel":{"by":"ada","at":1794954316561,"code":"user","why":"too long","fate":"cancelled","stopAt":null},"policy":{"timeoutMs":3600000},"tags":{"case":"stopped"},"fence":1}', '[{"n":1,"at":1794954316491,"by":"first","kind":"created","due":1794954316491,"priority":0},{"n":2,"at":1794954316491,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954316561,"by":"ada","why":"too long","kind":"cancelled","code":"user"}]'),
	(9, 3, NULL, 1794954316572, 1794954316649, 2110314316649, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"stop","job":8,"def":null,"before":{"id":8,"kind":"run","type":"forever","def":null,"standing":"running","created":1794954316491,"due":1794954316491,"priority":0,"tags":{"case":"stopped"},"attempt":1,"isCancelAsked":false},"after":{"id":8,"kind":"run","type":"forever","def":null,"standing":"cancelled","created":1794954316491,"due":1794954316491,"priority":0,"tags":{"case":"stopped"},"attempt":1,"isCancelAsked":true},"why":"too long"}', NULL, '{"changed":1794954316649,"attempt":1,"startedAt":1794954316594,"policy":{"retentionMs":315360000000},"tags":{"action":"stop","by":"ada","job":"8"},"fence":1}', '[{"n":1,"at":1794954316572,"by":"ada","kind":"created","due":1794954316572,"priority":0}]
[{"n":2,"at":1794954316594,"by":"ada","why":"too long","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954316649,"by":"ada","why":"too long","kind":"succeeded"}]'),
	(10, 5, NULL, 1794954316719, 1794954316826, NULL, 'run', 'broken', NULL, 'failed', 'null', NULL, '{"changed":1794954316826,"attempt":2,"startedAt":1794954316767,"error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"policy":{"attemptsMax":2,"baseMs":1},"tags":{"case":"failed"},"due":1794954316730,"fence":2}', '[{"n":1,"at":1794954316719,"by":"first","kind":"created","due":1794954316719,"priority":0},{"n":2,"at":1794954316719,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954316729,"by":"first","kind":"retried","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"due":1794954316730}]
[{"n":4,"at":1794954316767,"by":"first","kind":"claimed","holder":"first"}]
[{"n":5,"at":1794954316826,"by":"first","kind":"failed","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"}}]'),
	(12, 3, NULL, 1794954317056, 1794954317561, NULL, 'run', 'refused', NULL, 'failed', 'null', NULL, '{"changed":1794954317561,"attempt":1,"startedAt":1794954317056,"error":{"code":"unknown","message":"nobody can do this","stack":"Fail: nobody can do this"},"tags":{"case":"refused"},"fence":1}', '[{"n":1,"at":1794954317056,"by":"first","kind":"created","due":1794954317056,"priority":0},{"n":2,"at":1794954317056,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317561,"by":"first","kind":"failed","error":{"code":"unknown","message":"nobody can do this","stack":"Fail: nobody can do this"}}]'),
	(11, 3, NULL, 1794954316772, 1794954317644, NULL, 'run', 'greet', 'pulse', 'succeeded', '{"name":"pulse"}', '{"hello":"pulse"}', '{"changed":1794954317644,"attempt":1,"startedAt":1794954317042,"tick":{"def":2,"schedule":0,"nominal":1794954316650,"isAwaited":false},"due":1794954316650,"fence":1}', '[{"n":1,"at":1794954316772,"by":"first","kind":"created","due":1794954316650,"priority":0}]
[{"n":2,"at":1794954317042,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317644,"by":"first","kind":"succeeded"}]'),
	(15, 3, NULL, 1794954317746, 1794954317777, 2110314317777, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"retry","job":13,"def":null,"before":{"id":13,"kind":"run","type":"broken","def":null,"standing":"failed","created":1794954317651,"due":1794954317663,"priority":0,"tags":{"case":"failed twice"},"attempt":2,"isCancelAsked":false},"after":{"id":13,"kind":"run","type":"broken","def":null,"standing":"pending","created":1794954317651,"due":1794954317719,"priority":0,"tags":{"case":"failed twice"},"attempt":0,"isCancelAsked":false},"why":null}', NULL, '{"changed":1794954317777,"attempt":1,"startedAt":1794954317755,"policy":{"retentionMs":315360000000},"tags":{"action":"retry","by":"ada","job":"13"},"fence":1}', '[{"n":1,"at":1794954317746,"by":"ada","kind":"created","due":1794954317746,"priority":0}]
[{"n":2,"at":1794954317755,"by":"ada","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954317777,"by":"ada","kind":"succeeded"}]'),
	(17, 3, 16, 1794954317839, 1794954317886, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":1,"stuckFrom":1000}', '{"links":1}', '{"changed":1794954317886,"key":"page 1","attempt":1,"startedAt":1794954317863,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954317839,"by":"first","kind":"created","due":1794954317839,"priority":0}]
[{"n":2,"at":1794954317863,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317886,"by":"first","kind":"succeeded"}]'),
	(18, 3, 16, 1794954317839, 1794954317886, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":2,"stuckFrom":1000}', '{"links":2}', '{"changed":1794954317886,"key":"page 2","attempt":1,"startedAt":1794954317863,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954317839,"by":"first","kind":"created","due":1794954317839,"priority":0}]
[{"n":2,"at":1794954317863,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317886,"by":"first","kind":"succeeded"}]'),
	(19, 3, 16, 1794954317839, 1794954317886, NULL, 'task', 'crawl', NULL, 'failed', '{"page":3,"stuckFrom":1000}', NULL, '{"changed":1794954317886,"key":"page 3","attempt":1,"startedAt":1794954317863,"error":{"code":"unknown","message":"page 3 is missing","stack":"Error: page 3 is missing"},"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954317839,"by":"first","kind":"created","due":1794954317839,"priority":0}]
[{"n":2,"at":1794954317863,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317886,"by":"first","kind":"failed","error":{"code":"unknown","message":"page 3 is missing","stack":"Error: page 3 is missing"}}]'),
	(22, 3, NULL, 1794954317932, 1794954317946, NULL, 'run', 'greet', NULL, 'succeeded', '{"name":"only"}', '{"hello":"only"}', '{"changed":1794954317946,"attempt":1,"startedAt":1794954317932,"unique":{"key":"for a long time","forMs":2592000000000},"tags":{"case":"key kept"},"fence":1}', '[{"n":1,"at":1794954317932,"by":"first","kind":"created","due":1794954317932,"priority":0},{"n":2,"at":1794954317932,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317946,"by":"first","kind":"succeeded"}]'),
	(24, 3, NULL, 1794954318009, 1794954318019, 2110314318019, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"disable","job":null,"def":"pulse","before":{"isEnabled":true,"override":null,"code":{"type":"greet","params":{"name":"pulse"},"schedules":[{"kind":"every","everyMs":1000,"from":"scheduled"}],"policy":{},"priority":0,"overlap":"allow","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null}},"after":{"isEnabled":false,"override":null,"code":{"type":"greet","params":{"name":"pulse"},"schedules":[{"kind":"every","everyMs":1000,"from":"scheduled"}],"policy":{},"priority":0,"overlap":"allow","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null}},"why":"it has shown enough"}', NULL, '{"changed":1794954318019,"attempt":1,"startedAt":1794954318016,"policy":{"retentionMs":315360000000},"tags":{"action":"disable","by":"ada"},"fence":1}', '[{"n":1,"at":1794954318009,"by":"ada","kind":"created","due":1794954318009,"priority":0}]
[{"n":2,"at":1794954318016,"by":"ada","why":"it has shown enough","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954318019,"by":"ada","why":"it has shown enough","kind":"succeeded"}]'),
	(14, 3, NULL, 1794954317680, 1794954317740, NULL, 'run', 'greet', 'pulse', 'succeeded', '{"name":"pulse"}', '{"hello":"pulse"}', '{"changed":1794954317740,"attempt":1,"startedAt":1794954317714,"tick":{"def":2,"schedule":0,"nominal":1794954317650,"isAwaited":false},"due":1794954317650,"fence":1}', '[{"n":1,"at":1794954317680,"by":"first","kind":"created","due":1794954317650,"priority":0}]
[{"n":2,"at":1794954317714,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317740,"by":"first","kind":"succeeded"}]'),
	(13, 10, NULL, 1794954317651, 1794954317786, NULL, 'run', 'broken', NULL, 'failed', 'null', NULL, '{"changed":1794954317786,"generation":2,"attempt":2,"startedAt":1794954317783,"error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"policy":{"attemptsMax":2,"baseMs":1},"tags":{"case":"failed twice"},"due":1794954317756,"fence":4}', '[{"n":1,"at":1794954317651,"by":"first","kind":"created","due":1794954317650,"priority":0},{"n":2,"at":1794954317651,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317662,"by":"first","kind":"retried","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"due":1794954317663}]
[{"n":4,"at":1794954317673,"by":"first","kind":"claimed","holder":"first"}]
[{"n":5,"at":1794954317695,"by":"first","kind":"failed","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"}}]
[{"n":6,"at":1794954317719,"by":"ada","kind":"reopened","due":1794954317719,"phase":"run"}]
[{"n":7,"at":1794954317750,"by":"first","kind":"claimed","holder":"first"}]
[{"n":8,"at":1794954317755,"by":"first","kind":"retried","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"due":1794954317756}]
[{"n":9,"at":1794954317783,"by":"first","kind":"claimed","holder":"first"}]
[{"n":10,"at":1794954317786,"by":"first","kind":"failed","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"}}]'),
	(20, 3, 16, 1794954317839, 1794954317878, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":4,"stuckFrom":1000}', '{"links":4}', '{"changed":1794954317878,"key":"page 4","attempt":1,"startedAt":1794954317863,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954317839,"by":"first","kind":"created","due":1794954317839,"priority":0}]
[{"n":2,"at":1794954317863,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317878,"by":"first","kind":"succeeded"}]'),
	(21, 3, 16, 1794954317839, 1794954317906, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":5,"stuckFrom":1000}', '{"links":5}', '{"changed":1794954317906,"key":"page 5","attempt":1,"startedAt":1794954317899,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954317839,"by":"first","kind":"created","due":1794954317839,"priority":0}]
[{"n":2,"at":1794954317899,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317906,"by":"first","kind":"succeeded"}]'),
	(23, 3, NULL, 1794954317954, 1794954317980, NULL, 'run', 'greet', 'by hand', 'succeeded', '{"name":"somebody"}', '{"hello":"somebody"}', '{"changed":1794954317980,"attempt":1,"startedAt":1794954317962,"policy":{"timeoutMs":7000},"tags":{"case":"of a definition"},"priority":3,"due":1794954317949,"fence":1}', '[{"n":1,"at":1794954317954,"by":"first","kind":"created","due":1794954317949,"priority":3}]
[{"n":2,"at":1794954317962,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317980,"by":"first","kind":"succeeded"}]'),
	(25, 3, NULL, 1794954318037, 1794954318046, 2110314318046, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"override","job":null,"def":"by hand","before":{"isEnabled":true,"override":null,"code":{"type":"greet","params":{"name":"somebody"},"schedules":[],"policy":{"timeoutMs":7000},"priority":3,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null}},"after":{"isEnabled":true,"override":{"priority":9},"code":{"type":"greet","params":{"name":"somebody"},"schedules":[],"policy":{"timeoutMs":7000},"priority":3,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null}},"why":null}', NULL, '{"changed":1794954318046,"attempt":1,"startedAt":1794954318040,"policy":{"retentionMs":315360000000},"tags":{"action":"override","by":"ada"},"fence":1}', '[{"n":1,"at":1794954318037,"by":"ada","kind":"created","due":1794954318037,"priority":0}]
[{"n":2,"at":1794954318040,"by":"ada","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954318046,"by":"ada","kind":"succeeded"}]'),
	(27, 3, NULL, 1794954318064, 1794954318080, 2110314318080, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"define","job":null,"def":"made by hand","before":null,"after":{"isEnabled":true,"override":null,"code":{"type":"greet","params":{"name":"ops"},"schedules":[{"kind":"every","everyMs":31536000000,"from":"scheduled"}],"policy":{},"priority":0,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null}},"why":null}', NULL, '{"changed":1794954318080,"attempt":1,"startedAt":1794954318073,"policy":{"retentionMs":315360000000},"tags":{"action":"define","by":"ada"},"fence":1}', '[{"n":1,"at":1794954318064,"by":"ada","kind":"created","due":1794954318064,"priority":0}]
[{"n":2,"at":1794954318073,"by":"ada","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954318080,"by":"ada","kind":"succeeded"}]'),
	(16, 6, NULL, 1794954317810, 1794954317925, NULL, 'run', 'crawl', NULL, 'succeeded', '{"pages":5}', '{"links":12,"failed":1}', '{"changed":1794954317925,"attempt":1,"startedAt":1794954317918,"details":"{\"agent\":\"crawler of 5 pages\"}","policy":{"attemptsMax":1},"tags":{"case":"tasks ended"},"phase":"gather","due":1794954317908,"fence":2}', '[{"n":1,"at":1794954317810,"by":"first","kind":"created","due":1794954317810,"priority":0,"phase":"prepare"}]
[{"n":2,"at":1794954317832,"by":"first","kind":"claimed","holder":"first"}]
[{"n":3,"at":1794954317842,"by":"first","kind":"planned","tasks":5,"details":"{\"agent\":\"crawler of 5 pages\"}"}]
[{"n":4,"at":1794954317908,"by":"first","kind":"settled","due":1794954317908}]
[{"n":5,"at":1794954317918,"by":"first","kind":"claimed","holder":"first"}]
[{"n":6,"at":1794954317925,"by":"first","kind":"succeeded"}]'),
	(47, 3, 45, 1794954319208, 1794954319336, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":1,"stuckFrom":5}', '{"links":1}', '{"changed":1794954319336,"key":"page 1","attempt":1,"startedAt":1794954319290,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319336,"by":"second","kind":"succeeded"}]'),
	(48, 3, 45, 1794954319208, 1794954319336, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":2,"stuckFrom":5}', '{"links":2}', '{"changed":1794954319336,"key":"page 2","attempt":1,"startedAt":1794954319290,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319336,"by":"second","kind":"succeeded"}]'),
	(49, 3, 45, 1794954319208, 1794954319336, NULL, 'task', 'crawl', NULL, 'failed', '{"page":3,"stuckFrom":5}', NULL, '{"changed":1794954319336,"key":"page 3","attempt":1,"startedAt":1794954319290,"error":{"code":"unknown","message":"page 3 is missing","stack":"Error: page 3 is missing"},"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319336,"by":"second","kind":"failed","error":{"code":"unknown","message":"page 3 is missing","stack":"Error: page 3 is missing"}}]'),
	(50, 3, 45, 1794954319208, 1794954319336, NULL, 'task', 'crawl', NULL, 'succeeded', '{"page":4,"stuckFrom":5}', '{"links":4}', '{"changed":1794954319336,"key":"page 4","attempt":1,"startedAt":1794954319290,"policy":{"attemptsMax":1},"fence":1,"gate":"any/crawl%20tasks///4/"}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319336,"by":"second","kind":"succeeded"}]'),
	(1064, 3, NULL, 1794954319348, 1794954319364, 2110314319364, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"cancel","job":34,"def":null,"before":{"id":34,"kind":"run","type":"forever","def":null,"standing":"running","created":1794954319179,"due":1794954319179,"priority":0,"tags":{"case":"cancel asked"},"attempt":1,"isCancelAsked":false},"after":{"id":34,"kind":"run","type":"forever","def":null,"standing":"running","created":1794954319179,"due":1794954319179,"priority":0,"tags":{"case":"cancel asked"},"attempt":1,"isCancelAsked":true},"why":"not needed"}', NULL, '{"changed":1794954319364,"attempt":1,"startedAt":1794954319361,"policy":{"retentionMs":315360000000},"tags":{"action":"cancel","by":"ada","job":"34"},"fence":1}', '[{"n":1,"at":1794954319348,"by":"ada","kind":"created","due":1794954319348,"priority":0}]
[{"n":2,"at":1794954319361,"by":"ada","why":"not needed","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954319364,"by":"ada","why":"not needed","kind":"succeeded"}]'),
	(1072, 4, NULL, 1794954321237, 1794954321488, NULL, 'bedrock', 'b/failed', NULL, 'failed', '{"why":"it broke"}', NULL, '{"changed":1794954321488,"attempt":1,"startedAt":1794954321486,"error":{"code":"unknown","message":"its worker said that it failed"},"priority":500,"fence":1}', '[{"n":1,"at":1794954321237,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321237,"priority":500}]
[{"n":2,"at":1794954321486,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]
[{"n":3,"at":1794954321488,"by":"bedrock 127.0.0.1:39788","kind":"edited","edit":{"input":"{\"why\":\"it broke\"}"}},{"n":4,"at":1794954321488,"by":"bedrock 127.0.0.1:39788","kind":"failed","error":{"code":"unknown","message":"its worker said that it failed"}}]'),
	(1073, 3, NULL, 1794954321504, 1794954321512, NULL, 'bedrock', 'b/finished', NULL, 'succeeded', '{"n":1}', NULL, '{"changed":1794954321512,"attempt":1,"startedAt":1794954321511,"priority":500,"fence":1}', '[{"n":1,"at":1794954321504,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321504,"priority":500}]
[{"n":2,"at":1794954321511,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]
[{"n":3,"at":1794954321512,"by":"bedrock 127.0.0.1:39788","kind":"succeeded"}]'),
	(1075, 5, 1074, 1794954321528, 1794954321549, NULL, 'bedrock', 'b/child', NULL, 'succeeded', '{"done":true}', NULL, '{"changed":1794954321549,"attempt":1,"startedAt":1794954321547,"priority":500,"fence":1}', '[{"n":1,"at":1794954321528,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321528,"priority":500,"hold":"parent"}]
[{"n":2,"at":1794954321531,"by":"bedrock 127.0.0.1:39788","kind":"freed"}]
[{"n":3,"at":1794954321547,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]
[{"n":4,"at":1794954321549,"by":"bedrock 127.0.0.1:39788","kind":"edited","edit":{"input":"{\"done\":true}"}},{"n":5,"at":1794954321549,"by":"bedrock 127.0.0.1:39788","kind":"succeeded"}]'),
	(1080, 3, NULL, 1794954321655, 1794954321679, 2110314321679, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":0,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":1,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 1"}', NULL, '{"changed":1794954321679,"attempt":1,"startedAt":1794954321657,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321655,"by":"ada","kind":"created","due":1794954321655,"priority":0}]
[{"n":2,"at":1794954321657,"by":"ada","why":"edit 1","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321679,"by":"ada","why":"edit 1","kind":"succeeded"}]'),
	(1081, 3, NULL, 1794954321689, 1794954321691, 2110314321691, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":1,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":2,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 2"}', NULL, '{"changed":1794954321691,"attempt":1,"startedAt":1794954321690,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321689,"by":"ada","kind":"created","due":1794954321689,"priority":0}]
[{"n":2,"at":1794954321690,"by":"ada","why":"edit 2","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321691,"by":"ada","why":"edit 2","kind":"succeeded"}]'),
	(1082, 3, NULL, 1794954321695, 1794954321701, 2110314321701, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":2,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":3,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 3"}', NULL, '{"changed":1794954321701,"attempt":1,"startedAt":1794954321698,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321695,"by":"ada","kind":"created","due":1794954321695,"priority":0}]
[{"n":2,"at":1794954321698,"by":"ada","why":"edit 3","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321701,"by":"ada","why":"edit 3","kind":"succeeded"}]'),
	(1087, 3, NULL, 1794954321774, 1794954321782, 2110314321782, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":7,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":8,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 8"}', NULL, '{"changed":1794954321782,"attempt":1,"startedAt":1794954321780,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321774,"by":"ada","kind":"created","due":1794954321774,"priority":0}]
[{"n":2,"at":1794954321780,"by":"ada","why":"edit 8","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321782,"by":"ada","why":"edit 8","kind":"succeeded"}]'),
	(1088, 3, NULL, 1794954321784, 1794954321796, 2110314321796, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":8,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":9,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 9"}', NULL, '{"changed":1794954321796,"attempt":1,"startedAt":1794954321789,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321784,"by":"ada","kind":"created","due":1794954321784,"priority":0}]
[{"n":2,"at":1794954321789,"by":"ada","why":"edit 9","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321796,"by":"ada","why":"edit 9","kind":"succeeded"}]'),
	(1089, 3, NULL, 1794954321799, 1794954321801, 2110314321801, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":9,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":10,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 10"}', NULL, '{"changed":1794954321801,"attempt":1,"startedAt":1794954321800,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321799,"by":"ada","kind":"created","due":1794954321799,"priority":0}]
[{"n":2,"at":1794954321800,"by":"ada","why":"edit 10","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321801,"by":"ada","why":"edit 10","kind":"succeeded"}]'),
	(1095, 3, NULL, 1794954322035, 1794954322226, 2110314322226, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":15,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":16,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 16"}', NULL, '{"changed":1794954322226,"attempt":1,"startedAt":1794954322218,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322035,"by":"ada","kind":"created","due":1794954322035,"priority":0}]
[{"n":2,"at":1794954322218,"by":"ada","why":"edit 16","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322226,"by":"ada","why":"edit 16","kind":"succeeded"}]'),
	(1096, 3, NULL, 1794954322231, 1794954322234, 2110314322234, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":16,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":17,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 17"}', NULL, '{"changed":1794954322234,"attempt":1,"startedAt":1794954322233,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322231,"by":"ada","kind":"created","due":1794954322231,"priority":0}]
[{"n":2,"at":1794954322233,"by":"ada","why":"edit 17","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322234,"by":"ada","why":"edit 17","kind":"succeeded"}]'),
	(1097, 3, NULL, 1794954322242, 1794954322248, 2110314322248, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":17,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":18,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 18"}', NULL, '{"changed":1794954322248,"attempt":1,"startedAt":1794954322244,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322242,"by":"ada","kind":"created","due":1794954322242,"priority":0}]
[{"n":2,"at":1794954322244,"by":"ada","why":"edit 18","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322248,"by":"ada","why":"edit 18","kind":"succeeded"}]'),
	(1098, 3, NULL, 1794954322256, 1794954322264, 2110314322264, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":18,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":19,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 19"}', NULL, '{"changed":1794954322264,"attempt":1,"startedAt":1794954322257,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322256,"by":"ada","kind":"created","due":1794954322256,"priority":0}]
[{"n":2,"at":1794954322257,"by":"ada","why":"edit 19","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322264,"by":"ada","why":"edit 19","kind":"succeeded"}]'),
	(1083, 3, NULL, 1794954321707, 1794954321725, 2110314321725, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":3,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":4,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 4"}', NULL, '{"changed":1794954321725,"attempt":1,"startedAt":1794954321712,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321707,"by":"ada","kind":"created","due":1794954321707,"priority":0}]
[{"n":2,"at":1794954321712,"by":"ada","why":"edit 4","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321725,"by":"ada","why":"edit 4","kind":"succeeded"}]'),
	(1084, 3, NULL, 1794954321730, 1794954321745, 2110314321745, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":4,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":5,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 5"}', NULL, '{"changed":1794954321745,"attempt":1,"startedAt":1794954321738,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321730,"by":"ada","kind":"created","due":1794954321730,"priority":0}]
[{"n":2,"at":1794954321738,"by":"ada","why":"edit 5","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321745,"by":"ada","why":"edit 5","kind":"succeeded"}]'),
	(1085, 3, NULL, 1794954321750, 1794954321755, 2110314321755, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":5,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":6,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 6"}', NULL, '{"changed":1794954321755,"attempt":1,"startedAt":1794954321754,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321750,"by":"ada","kind":"created","due":1794954321750,"priority":0}]
[{"n":2,"at":1794954321754,"by":"ada","why":"edit 6","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321755,"by":"ada","why":"edit 6","kind":"succeeded"}]'),
	(1086, 3, NULL, 1794954321764, 1794954321766, 2110314321766, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":6,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":7,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 7"}', NULL, '{"changed":1794954321766,"attempt":1,"startedAt":1794954321765,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321764,"by":"ada","kind":"created","due":1794954321764,"priority":0}]
[{"n":2,"at":1794954321765,"by":"ada","why":"edit 7","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321766,"by":"ada","why":"edit 7","kind":"succeeded"}]'),
	(1090, 3, NULL, 1794954321806, 1794954321852, 2110314321852, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":10,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":11,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 11"}', NULL, '{"changed":1794954321852,"attempt":1,"startedAt":1794954321808,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321806,"by":"ada","kind":"created","due":1794954321806,"priority":0}]
[{"n":2,"at":1794954321808,"by":"ada","why":"edit 11","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321852,"by":"ada","why":"edit 11","kind":"succeeded"}]'),
	(1091, 3, NULL, 1794954321868, 1794954321876, 2110314321876, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":11,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":12,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 12"}', NULL, '{"changed":1794954321876,"attempt":1,"startedAt":1794954321871,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321868,"by":"ada","kind":"created","due":1794954321868,"priority":0}]
[{"n":2,"at":1794954321871,"by":"ada","why":"edit 12","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321876,"by":"ada","why":"edit 12","kind":"succeeded"}]'),
	(1092, 3, NULL, 1794954321884, 1794954321892, 2110314321892, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":12,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":13,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 13"}', NULL, '{"changed":1794954321892,"attempt":1,"startedAt":1794954321888,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321884,"by":"ada","kind":"created","due":1794954321884,"priority":0}]
[{"n":2,"at":1794954321888,"by":"ada","why":"edit 13","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321892,"by":"ada","why":"edit 13","kind":"succeeded"}]'),
	(1093, 3, NULL, 1794954321909, 1794954321914, 2110314321914, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":13,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":14,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 14"}', NULL, '{"changed":1794954321914,"attempt":1,"startedAt":1794954321912,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321909,"by":"ada","kind":"created","due":1794954321909,"priority":0}]
[{"n":2,"at":1794954321912,"by":"ada","why":"edit 14","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954321914,"by":"ada","why":"edit 14","kind":"succeeded"}]'),
	(1094, 3, NULL, 1794954321948, 1794954322006, 2110314322006, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":14,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":15,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 15"}', NULL, '{"changed":1794954322006,"attempt":1,"startedAt":1794954321980,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954321948,"by":"ada","kind":"created","due":1794954321948,"priority":0}]
[{"n":2,"at":1794954321980,"by":"ada","why":"edit 15","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322006,"by":"ada","why":"edit 15","kind":"succeeded"}]'),
	(1100, 3, NULL, 1794954322378, 1794954322393, 2110314322393, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":20,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":21,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 21"}', NULL, '{"changed":1794954322393,"attempt":1,"startedAt":1794954322386,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322378,"by":"ada","kind":"created","due":1794954322378,"priority":0}]
[{"n":2,"at":1794954322386,"by":"ada","why":"edit 21","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322393,"by":"ada","why":"edit 21","kind":"succeeded"}]'),
	(1101, 3, NULL, 1794954322407, 1794954322477, 2110314322477, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":21,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":22,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 22"}', NULL, '{"changed":1794954322477,"attempt":1,"startedAt":1794954322440,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322407,"by":"ada","kind":"created","due":1794954322407,"priority":0}]
[{"n":2,"at":1794954322440,"by":"ada","why":"edit 22","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322477,"by":"ada","why":"edit 22","kind":"succeeded"}]'),
	(1102, 3, NULL, 1794954322697, 1794954322880, 2110314322880, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":22,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":23,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 23"}', NULL, '{"changed":1794954322880,"attempt":1,"startedAt":1794954322764,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322697,"by":"ada","kind":"created","due":1794954322697,"priority":0}]
[{"n":2,"at":1794954322764,"by":"ada","why":"edit 23","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322880,"by":"ada","why":"edit 23","kind":"succeeded"}]'),
	(1103, 3, NULL, 1794954322900, 1794954322944, 2110314322944, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":23,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":24,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 24"}', NULL, '{"changed":1794954322944,"attempt":1,"startedAt":1794954322906,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322900,"by":"ada","kind":"created","due":1794954322900,"priority":0}]
[{"n":2,"at":1794954322906,"by":"ada","why":"edit 24","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322944,"by":"ada","why":"edit 24","kind":"succeeded"}]'),
	(1104, 3, NULL, 1794954322960, 1794954322968, 2110314322968, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":24,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":25,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 25"}', NULL, '{"changed":1794954322968,"attempt":1,"startedAt":1794954322965,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322960,"by":"ada","kind":"created","due":1794954322960,"priority":0}]
[{"n":2,"at":1794954322965,"by":"ada","why":"edit 25","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322968,"by":"ada","why":"edit 25","kind":"succeeded"}]'),
	(1109, 3, NULL, 1794954323010, 1794954323017, 2110314323017, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":29,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":30,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 30"}', NULL, '{"changed":1794954323017,"attempt":1,"startedAt":1794954323013,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323010,"by":"ada","kind":"created","due":1794954323010,"priority":0}]
[{"n":2,"at":1794954323013,"by":"ada","why":"edit 30","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323017,"by":"ada","why":"edit 30","kind":"succeeded"}]'),
	(1110, 3, NULL, 1794954323045, 1794954323052, 2110314323052, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":30,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":31,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 31"}', NULL, '{"changed":1794954323052,"attempt":1,"startedAt":1794954323048,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323045,"by":"ada","kind":"created","due":1794954323045,"priority":0}]
[{"n":2,"at":1794954323048,"by":"ada","why":"edit 31","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323052,"by":"ada","why":"edit 31","kind":"succeeded"}]'),
	(1099, 3, NULL, 1794954322278, 1794954322281, 2110314322281, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":19,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":20,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 20"}', NULL, '{"changed":1794954322281,"attempt":1,"startedAt":1794954322279,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322278,"by":"ada","kind":"created","due":1794954322278,"priority":0}]
[{"n":2,"at":1794954322279,"by":"ada","why":"edit 20","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322281,"by":"ada","why":"edit 20","kind":"succeeded"}]'),
	(1105, 3, NULL, 1794954322975, 1794954322983, 2110314322983, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":25,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":26,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 26"}', NULL, '{"changed":1794954322983,"attempt":1,"startedAt":1794954322980,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322975,"by":"ada","kind":"created","due":1794954322975,"priority":0}]
[{"n":2,"at":1794954322980,"by":"ada","why":"edit 26","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322983,"by":"ada","why":"edit 26","kind":"succeeded"}]'),
	(1106, 3, NULL, 1794954322994, 1794954322997, 2110314322997, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":26,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":27,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 27"}', NULL, '{"changed":1794954322997,"attempt":1,"startedAt":1794954322996,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954322994,"by":"ada","kind":"created","due":1794954322994,"priority":0}]
[{"n":2,"at":1794954322996,"by":"ada","why":"edit 27","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954322997,"by":"ada","why":"edit 27","kind":"succeeded"}]'),
	(1107, 3, NULL, 1794954323000, 1794954323003, 2110314323003, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":27,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":28,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 28"}', NULL, '{"changed":1794954323003,"attempt":1,"startedAt":1794954323002,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323000,"by":"ada","kind":"created","due":1794954323000,"priority":0}]
[{"n":2,"at":1794954323002,"by":"ada","why":"edit 28","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323003,"by":"ada","why":"edit 28","kind":"succeeded"}]'),
	(1108, 3, NULL, 1794954323005, 1794954323008, 2110314323008, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":28,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":29,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 29"}', NULL, '{"changed":1794954323008,"attempt":1,"startedAt":1794954323007,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323005,"by":"ada","kind":"created","due":1794954323005,"priority":0}]
[{"n":2,"at":1794954323007,"by":"ada","why":"edit 29","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323008,"by":"ada","why":"edit 29","kind":"succeeded"}]'),
	(1119, 3, NULL, 1794954323816, 1794954323902, 2110314323902, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":39,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":40,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 40"}', NULL, '{"changed":1794954323902,"attempt":1,"startedAt":1794954323818,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323816,"by":"ada","kind":"created","due":1794954323816,"priority":0}]
[{"n":2,"at":1794954323818,"by":"ada","why":"edit 40","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323902,"by":"ada","why":"edit 40","kind":"succeeded"}]'),
	(1121, 3, NULL, 1794954323923, 1794954323940, 2110314323940, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"pause","job":1120,"def":null,"before":{"id":1120,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954323904,"due":1794954323904,"priority":0,"tags":{"case":"paused"},"attempt":0,"isCancelAsked":false},"after":{"id":1120,"kind":"run","type":"greet","def":null,"standing":"held","created":1794954323904,"due":1794954323904,"priority":0,"tags":{"case":"paused"},"attempt":0,"isCancelAsked":false},"why":null}', NULL, '{"changed":1794954323940,"attempt":1,"startedAt":1794954323931,"policy":{"retentionMs":315360000000},"tags":{"action":"pause","by":"ada","job":"1120"},"fence":1}', '[{"n":1,"at":1794954323923,"by":"ada","kind":"created","due":1794954323923,"priority":0}]
[{"n":2,"at":1794954323931,"by":"ada","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323940,"by":"ada","kind":"succeeded"}]'),
	(1111, 3, NULL, 1794954323060, 1794954323308, 2110314323308, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":31,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":32,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 32"}', NULL, '{"changed":1794954323308,"attempt":1,"startedAt":1794954323062,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323060,"by":"ada","kind":"created","due":1794954323060,"priority":0}]
[{"n":2,"at":1794954323062,"by":"ada","why":"edit 32","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323308,"by":"ada","why":"edit 32","kind":"succeeded"}]'),
	(1112, 3, NULL, 1794954323352, 1794954323510, 2110314323510, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":32,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":33,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 33"}', NULL, '{"changed":1794954323510,"attempt":1,"startedAt":1794954323353,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323352,"by":"ada","kind":"created","due":1794954323352,"priority":0}]
[{"n":2,"at":1794954323353,"by":"ada","why":"edit 33","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323510,"by":"ada","why":"edit 33","kind":"succeeded"}]'),
	(1113, 3, NULL, 1794954323559, 1794954323567, 2110314323567, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":33,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":34,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 34"}', NULL, '{"changed":1794954323567,"attempt":1,"startedAt":1794954323565,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323559,"by":"ada","kind":"created","due":1794954323559,"priority":0}]
[{"n":2,"at":1794954323565,"by":"ada","why":"edit 34","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323567,"by":"ada","why":"edit 34","kind":"succeeded"}]'),
	(1114, 3, NULL, 1794954323576, 1794954323580, 2110314323580, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":34,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":35,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 35"}', NULL, '{"changed":1794954323580,"attempt":1,"startedAt":1794954323578,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323576,"by":"ada","kind":"created","due":1794954323576,"priority":0}]
[{"n":2,"at":1794954323578,"by":"ada","why":"edit 35","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323580,"by":"ada","why":"edit 35","kind":"succeeded"}]'),
	(1115, 3, NULL, 1794954323585, 1794954323589, 2110314323589, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":35,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":36,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 36"}', NULL, '{"changed":1794954323589,"attempt":1,"startedAt":1794954323586,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323585,"by":"ada","kind":"created","due":1794954323585,"priority":0}]
[{"n":2,"at":1794954323586,"by":"ada","why":"edit 36","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323589,"by":"ada","why":"edit 36","kind":"succeeded"}]'),
	(1116, 3, NULL, 1794954323594, 1794954323603, 2110314323603, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":36,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":37,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 37"}', NULL, '{"changed":1794954323603,"attempt":1,"startedAt":1794954323601,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323594,"by":"ada","kind":"created","due":1794954323594,"priority":0}]
[{"n":2,"at":1794954323601,"by":"ada","why":"edit 37","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323603,"by":"ada","why":"edit 37","kind":"succeeded"}]'),
	(1117, 3, NULL, 1794954323776, 1794954323790, 2110314323790, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":37,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":38,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 38"}', NULL, '{"changed":1794954323790,"attempt":1,"startedAt":1794954323785,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323776,"by":"ada","kind":"created","due":1794954323776,"priority":0}]
[{"n":2,"at":1794954323785,"by":"ada","why":"edit 38","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323790,"by":"ada","why":"edit 38","kind":"succeeded"}]'),
	(1118, 3, NULL, 1794954323802, 1794954323812, 2110314323812, 'audit', 'stint.audit', NULL, 'succeeded', '{"action":"edit","job":1079,"def":null,"before":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":38,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"after":{"id":1079,"kind":"run","type":"greet","def":null,"standing":"pending","created":1794954321560,"due":4102444800000,"priority":39,"tags":{"case":"delayed"},"attempt":0,"isCancelAsked":false},"why":"edit 39"}', NULL, '{"changed":1794954323812,"attempt":1,"startedAt":1794954323811,"policy":{"retentionMs":315360000000},"tags":{"action":"edit","by":"ada","job":"1079"},"fence":1}', '[{"n":1,"at":1794954323802,"by":"ada","kind":"created","due":1794954323802,"priority":0}]
[{"n":2,"at":1794954323811,"by":"ada","why":"edit 39","kind":"claimed","holder":"ada"}]
[{"n":3,"at":1794954323812,"by":"ada","why":"edit 39","kind":"succeeded"}]');

INSERT INTO stint.feed OVERRIDING SYSTEM VALUE VALUES
	('728', 1, 1794954315684, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[1],"events":[{"n":1,"at":1794954315633,"by":"first","kind":"created","due":1794979800000,"priority":0,"plan":{"schedules":[{"activated":1794954315633,"lastNominal":null,"next":{"nominal":1794979800000,"due":1794979800000},"run":null}]}}]}]'),
	('730', 2, 1794954315691, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[4],"events":[{"n":1,"at":1794954315660,"by":"first","kind":"created","due":253402300799999,"priority":0,"plan":{"schedules":[]}}]}]'),
	('731', 3, 1794954315694, 2, '[{"kind":"def","type":"greet","parent":null,"jobs":[2],"events":[{"n":1,"at":1794954315650,"by":"first","kind":"created","due":1794954316650,"priority":0,"plan":{"schedules":[{"activated":1794954315650,"lastNominal":null,"next":{"nominal":1794954316650,"due":1794954316650},"run":null}]}}]},{"kind":"def","type":"greet","parent":null,"jobs":[3],"events":[{"n":1,"at":1794954315650,"by":"first","kind":"created","due":1794957915650,"priority":0,"plan":{"schedules":[{"activated":1794954315650,"lastNominal":null,"next":{"nominal":1794957915650,"due":1794957915650},"run":null}]},"hold":"pause"}]}]'),
	('737', 4, 1794954315798, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[5],"events":[{"n":1,"at":1794954315730,"by":"first","kind":"created","due":1794954315729,"priority":0}]}]'),
	('739', 5, 1794954316333, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[5],"events":[{"n":2,"at":1794954316328,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('741', 6, 1794954316419, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[5],"events":[{"n":3,"at":1794954316415,"by":"first","kind":"succeeded"}]}]'),
	('742', 7, 1794954316441, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[6],"events":[{"n":1,"at":1794954316435,"by":"first","kind":"created","due":4102444800000,"priority":0}]}]'),
	('744', 8, 1794954316458, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[6],"events":[{"n":2,"at":1794954316454,"by":"ada","why":"no longer needed","kind":"cancelled","code":"user"}]}]'),
	('745', 9, 1794954316466, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[7],"events":[{"n":1,"at":1794954316463,"by":"ada","kind":"created","due":1794954316463,"priority":0}]}]'),
	('747', 10, 1794954316478, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[7],"events":[{"n":2,"at":1794954316474,"by":"ada","why":"no longer needed","kind":"claimed","holder":"ada"}]}]'),
	('748', 11, 1794954316489, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[7],"events":[{"n":3,"at":1794954316483,"by":"ada","why":"no longer needed","kind":"succeeded"}]}]'),
	('750', 12, 1794954316495, 1, '[{"kind":"run","type":"forever","parent":null,"jobs":[8],"events":[{"n":1,"at":1794954316491,"by":"first","kind":"created","due":1794954316491,"priority":0},{"n":2,"at":1794954316491,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('751', 13, 1794954316568, 1, '[{"kind":"run","type":"forever","parent":null,"jobs":[8],"events":[{"n":3,"at":1794954316561,"by":"ada","why":"too long","kind":"cancelled","code":"user"}]}]'),
	('752', 14, 1794954316574, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[9],"events":[{"n":1,"at":1794954316572,"by":"ada","kind":"created","due":1794954316572,"priority":0}]}]'),
	('754', 15, 1794954316598, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[9],"events":[{"n":2,"at":1794954316594,"by":"ada","why":"too long","kind":"claimed","holder":"ada"}]}]'),
	('755', 16, 1794954316652, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[9],"events":[{"n":3,"at":1794954316649,"by":"ada","why":"too long","kind":"succeeded"}]}]'),
	('756', 17, 1794954316724, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[10],"events":[{"n":1,"at":1794954316719,"by":"first","kind":"created","due":1794954316719,"priority":0},{"n":2,"at":1794954316719,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('758', 18, 1794954316735, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[10],"events":[{"n":3,"at":1794954316729,"by":"first","kind":"retried","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"due":1794954316730}]}]'),
	('761', 19, 1794954316773, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[10],"events":[{"n":4,"at":1794954316767,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('762', 20, 1794954316780, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[2],"events":[{"n":2,"at":1794954316772,"by":"first","kind":"ticked","ticks":[{"schedule":0,"nominal":1794954316650,"run":11,"lateMs":122}],"plan":{"schedules":[{"activated":1794954315650,"lastNominal":1794954316650,"next":{"nominal":1794954317650,"due":1794954317650},"run":null}]},"due":1794954317650}]}]'),
	('762', 21, 1794954316781, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[11],"events":[{"n":1,"at":1794954316772,"by":"first","kind":"created","due":1794954316650,"priority":0}]}]'),
	('764', 22, 1794954317037, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[10],"events":[{"n":5,"at":1794954316826,"by":"first","kind":"failed","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"}}]}]'),
	('765', 23, 1794954317043, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[11],"events":[{"n":2,"at":1794954317042,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('766', 24, 1794954317058, 1, '[{"kind":"run","type":"refused","parent":null,"jobs":[12],"events":[{"n":1,"at":1794954317056,"by":"first","kind":"created","due":1794954317056,"priority":0},{"n":2,"at":1794954317056,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('769', 25, 1794954317613, 1, '[{"kind":"run","type":"refused","parent":null,"jobs":[12],"events":[{"n":3,"at":1794954317561,"by":"first","kind":"failed","error":{"code":"unknown","message":"nobody can do this","stack":"Fail: nobody can do this"}}]}]'),
	('770', 26, 1794954317647, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[11],"events":[{"n":3,"at":1794954317644,"by":"first","kind":"succeeded"}]}]'),
	('771', 27, 1794954317656, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":1,"at":1794954317651,"by":"first","kind":"created","due":1794954317650,"priority":0},{"n":2,"at":1794954317651,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('772', 28, 1794954317664, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":3,"at":1794954317662,"by":"first","kind":"retried","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"due":1794954317663}]}]'),
	('775', 29, 1794954317684, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":4,"at":1794954317673,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('776', 30, 1794954317687, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[2],"events":[{"n":3,"at":1794954317680,"by":"first","kind":"ticked","ticks":[{"schedule":0,"nominal":1794954317650,"run":14,"lateMs":30}],"plan":{"schedules":[{"activated":1794954315650,"lastNominal":1794954317650,"next":{"nominal":1794954318650,"due":1794954318650},"run":null}]},"due":1794954318650}]}]'),
	('776', 31, 1794954317694, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[14],"events":[{"n":1,"at":1794954317680,"by":"first","kind":"created","due":1794954317650,"priority":0}]}]'),
	('783', 35, 1794954317744, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[14],"events":[{"n":3,"at":1794954317740,"by":"first","kind":"succeeded"}]}]'),
	('785', 36, 1794954317750, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[15],"events":[{"n":1,"at":1794954317746,"by":"ada","kind":"created","due":1794954317746,"priority":0}]}]'),
	('787', 38, 1794954317771, 2, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":8,"at":1794954317755,"by":"first","kind":"retried","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"},"due":1794954317756}]},{"kind":"audit","type":"stint.audit","parent":null,"jobs":[15],"events":[{"n":2,"at":1794954317755,"by":"ada","kind":"claimed","holder":"ada"}]}]'),
	('789', 39, 1794954317786, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":9,"at":1794954317783,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('793', 42, 1794954317812, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[16],"events":[{"n":1,"at":1794954317810,"by":"first","kind":"created","due":1794954317810,"priority":0,"phase":"prepare"}]}]'),
	('796', 44, 1794954317846, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[16],"events":[{"n":3,"at":1794954317842,"by":"first","kind":"planned","tasks":5,"details":"{\"agent\":\"crawler of 5 pages\"}"}]}]'),
	('796', 45, 1794954317847, 5, '[{"kind":"task","type":"crawl","parent":16,"jobs":[17,18,19,20,21],"events":[{"n":1,"at":1794954317839,"by":"first","kind":"created","due":1794954317839,"priority":0}]}]'),
	('798', 46, 1794954317873, 4, '[{"kind":"task","type":"crawl","parent":16,"jobs":[17,18,19,20],"events":[{"n":2,"at":1794954317863,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('777', 32, 1794954317697, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":5,"at":1794954317695,"by":"first","kind":"failed","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"}}]}]'),
	('781', 34, 1794954317739, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":6,"at":1794954317719,"by":"ada","kind":"reopened","due":1794954317719,"phase":"run"}]}]'),
	('784', 37, 1794954317752, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":7,"at":1794954317750,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('791', 41, 1794954317808, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[15],"events":[{"n":3,"at":1794954317777,"by":"ada","kind":"succeeded"}]}]'),
	('795', 43, 1794954317838, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[16],"events":[{"n":2,"at":1794954317832,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('800', 48, 1794954317890, 3, '[{"kind":"task","type":"crawl","parent":16,"jobs":[17,18],"events":[{"n":3,"at":1794954317886,"by":"first","kind":"succeeded"}]},{"kind":"task","type":"crawl","parent":16,"jobs":[19],"events":[{"n":3,"at":1794954317886,"by":"first","kind":"failed","error":{"code":"unknown","message":"page 3 is missing","stack":"Error: page 3 is missing"}}]}]'),
	('809', 55, 1794954317947, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[22],"events":[{"n":3,"at":1794954317946,"by":"first","kind":"succeeded"}]}]'),
	('810', 56, 1794954317956, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[23],"events":[{"n":1,"at":1794954317954,"by":"first","kind":"created","due":1794954317949,"priority":3}]}]'),
	('812', 57, 1794954317967, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[23],"events":[{"n":2,"at":1794954317962,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('818', 61, 1794954318017, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[24],"events":[{"n":2,"at":1794954318016,"by":"ada","why":"it has shown enough","kind":"claimed","holder":"ada"}]}]'),
	('819', 62, 1794954318020, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[24],"events":[{"n":3,"at":1794954318019,"by":"ada","why":"it has shown enough","kind":"succeeded"}]}]'),
	('820', 63, 1794954318035, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[4],"events":[{"n":2,"at":1794954318034,"by":"ada","kind":"edited","edit":{"type":"greet","input":"{\"code\":{\"type\":\"greet\",\"params\":{\"name\":\"somebody\"},\"schedules\":[],\"policy\":{\"timeoutMs\":7000},\"priority\":3,\"overlap\":\"skip\",\"misfire\":{\"policy\":\"once\",\"windowMs\":86400000,\"cap\":100,\"graceMs\":60000},\"onePerType\":false,\"inMemory\":false,\"manualRuns\":true,\"tags\":null,\"phase\":\"run\",\"gate\":null,\"limitKey\":null},\"override\":{\"priority\":9}}","plan":{"schedules":[]},"due":253402300799999}}]}]'),
	('828', 68, 1794954318065, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[27],"events":[{"n":1,"at":1794954318064,"by":"ada","kind":"created","due":1794954318064,"priority":0}]}]'),
	('779', 33, 1794954317724, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[14],"events":[{"n":2,"at":1794954317714,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('790', 40, 1794954317788, 1, '[{"kind":"run","type":"broken","parent":null,"jobs":[13],"events":[{"n":10,"at":1794954317786,"by":"first","kind":"failed","error":{"code":"unknown","message":"the disk is full","data":{"free":0},"stack":"Error: the disk is full"}}]}]'),
	('799', 47, 1794954317879, 1, '[{"kind":"task","type":"crawl","parent":16,"jobs":[20],"events":[{"n":3,"at":1794954317878,"by":"first","kind":"succeeded"}]}]'),
	('802', 50, 1794954317907, 1, '[{"kind":"task","type":"crawl","parent":16,"jobs":[21],"events":[{"n":3,"at":1794954317906,"by":"first","kind":"succeeded"}]}]'),
	('803', 51, 1794954317909, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[16],"events":[{"n":4,"at":1794954317908,"by":"first","kind":"settled","due":1794954317908}]}]'),
	('814', 58, 1794954317983, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[23],"events":[{"n":3,"at":1794954317980,"by":"first","kind":"succeeded"}]}]'),
	('815', 59, 1794954318006, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[2],"events":[{"n":4,"at":1794954318004,"by":"ada","why":"it has shown enough","kind":"paused"}]}]'),
	('816', 60, 1794954318011, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[24],"events":[{"n":1,"at":1794954318009,"by":"ada","kind":"created","due":1794954318009,"priority":0}]}]'),
	('822', 64, 1794954318040, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[25],"events":[{"n":1,"at":1794954318037,"by":"ada","kind":"created","due":1794954318037,"priority":0}]}]'),
	('823', 65, 1794954318041, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[25],"events":[{"n":2,"at":1794954318040,"by":"ada","kind":"claimed","holder":"ada"}]}]'),
	('825', 66, 1794954318047, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[25],"events":[{"n":3,"at":1794954318046,"by":"ada","kind":"succeeded"}]}]'),
	('830', 69, 1794954318074, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[27],"events":[{"n":2,"at":1794954318073,"by":"ada","kind":"claimed","holder":"ada"}]}]'),
	('831', 70, 1794954318081, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[27],"events":[{"n":3,"at":1794954318080,"by":"ada","kind":"succeeded"}]}]'),
	('801', 49, 1794954317904, 1, '[{"kind":"task","type":"crawl","parent":16,"jobs":[21],"events":[{"n":2,"at":1794954317899,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('805', 52, 1794954317919, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[16],"events":[{"n":5,"at":1794954317918,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('806', 53, 1794954317929, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[16],"events":[{"n":6,"at":1794954317925,"by":"first","kind":"succeeded"}]}]'),
	('807', 54, 1794954317937, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[22],"events":[{"n":1,"at":1794954317932,"by":"first","kind":"created","due":1794954317932,"priority":0},{"n":2,"at":1794954317932,"by":"first","kind":"claimed","holder":"first"}]}]'),
	('826', 67, 1794954318062, 1, '[{"kind":"def","type":"greet","parent":null,"jobs":[26],"events":[{"n":1,"at":1794954318060,"by":"ada","kind":"created","due":1826490318060,"priority":0,"plan":{"schedules":[{"activated":1794954318060,"lastNominal":null,"next":{"nominal":1826490318060,"due":1826490318060},"run":null}]}}]}]'),
	('837', 71, 1794954318446, 1, '[{"kind":"run","type":"later","parent":null,"jobs":[32],"events":[{"n":1,"at":1794954318376,"by":"second","kind":"created","due":1794954318376,"priority":0}]}]'),
	('839', 72, 1794954319148, 1, '[{"kind":"run","type":"later","parent":null,"jobs":[32],"events":[{"n":2,"at":1794954319130,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('840', 73, 1794954319155, 1, '[{"kind":"run","type":"later","parent":null,"jobs":[32],"events":[{"n":3,"at":1794954319150,"by":"second","kind":"retried","error":{"code":"unknown","message":"not yet","stack":"RetryAfter: not yet"},"due":1794954349149}]}]'),
	('843', 74, 1794954319177, 1, '[{"kind":"run","type":"forever","parent":null,"jobs":[33],"events":[{"n":1,"at":1794954319171,"by":"second","kind":"created","due":1794954319171,"priority":0}]}]'),
	('845', 75, 1794954319181, 1, '[{"kind":"run","type":"forever","parent":null,"jobs":[34],"events":[{"n":1,"at":1794954319179,"by":"second","kind":"created","due":1794954319179,"priority":0}]}]'),
	('848', 76, 1794954319186, 1, '[{"kind":"run","type":"approve","parent":null,"jobs":[35],"events":[{"n":1,"at":1794954319181,"by":"second","kind":"created","due":1794954319181,"priority":0},{"n":2,"at":1794954319181,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('847', 77, 1794954319196, 2, '[{"kind":"run","type":"forever","parent":null,"jobs":[33,34],"events":[{"n":2,"at":1794954319185,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('851', 78, 1794954319197, 6, '[{"kind":"run","type":"limited","parent":null,"jobs":[39,40,41,42,43,44],"events":[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]}]'),
	('851', 79, 1794954319198, 1, '[{"kind":"run","type":"approve","parent":null,"jobs":[35],"events":[{"n":3,"at":1794954319194,"by":"second","kind":"handedOff","holder":"token 35.1","until":4386954319189}]}]'),
	('853', 80, 1794954319206, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[45],"events":[{"n":1,"at":1794954319199,"by":"second","kind":"created","due":1794954319199,"priority":0,"phase":"prepare"},{"n":2,"at":1794954319199,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('855', 81, 1794954319210, 1, '[{"kind":"run","type":"planning","parent":null,"jobs":[46],"events":[{"n":1,"at":1794954319207,"by":"second","kind":"created","due":1794954319207,"priority":0,"phase":"prepare"},{"n":2,"at":1794954319207,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('856', 82, 1794954319218, 1, '[{"kind":"run","type":"crawl","parent":null,"jobs":[45],"events":[{"n":3,"at":1794954319215,"by":"second","kind":"planned","tasks":8,"details":"{\"agent\":\"crawler of 8 pages\"}"}]}]'),
	('856', 83, 1794954319218, 8, '[{"kind":"task","type":"crawl","parent":45,"jobs":[47,48,49,50,51,52,53,54],"events":[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]}]'),
	('860', 84, 1794954319322, 7, '[{"kind":"run","type":"limited","parent":null,"jobs":[39,41,43],"events":[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]},{"kind":"task","type":"crawl","parent":45,"jobs":[47,48,49,50],"events":[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('861', 85, 1794954319340, 1, '[{"kind":"run","type":"forever","parent":null,"jobs":[34],"events":[{"n":3,"at":1794954319324,"by":"ada","why":"not needed","kind":"cancelAsked","note":{"by":"ada","at":1794954319324,"code":"user","why":"not needed","fate":"cancelled","stopAt":null}}]}]'),
	('862', 86, 1794954319345, 4, '[{"kind":"task","type":"crawl","parent":45,"jobs":[47,48,50],"events":[{"n":3,"at":1794954319336,"by":"second","kind":"succeeded"}]},{"kind":"task","type":"crawl","parent":45,"jobs":[49],"events":[{"n":3,"at":1794954319336,"by":"second","kind":"failed","error":{"code":"unknown","message":"page 3 is missing","stack":"Error: page 3 is missing"}}]}]'),
	('864', 87, 1794954319357, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1064],"events":[{"n":1,"at":1794954319348,"by":"ada","kind":"created","due":1794954319348,"priority":0}]}]'),
	('866', 88, 1794954319363, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1064],"events":[{"n":2,"at":1794954319361,"by":"ada","why":"not needed","kind":"claimed","holder":"ada"}]}]'),
	('867', 89, 1794954319368, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1064],"events":[{"n":3,"at":1794954319364,"by":"ada","why":"not needed","kind":"succeeded"}]}]'),
	('869', 90, 1794954319384, 4, '[{"kind":"task","type":"crawl","parent":45,"jobs":[51,52,53,54],"events":[{"n":2,"at":1794954319375,"by":"second","kind":"claimed","holder":"second"}]}]'),
	('873', 91, 1794954320995, 1, '[{"kind":"bedrock","type":"b/queued","parent":null,"jobs":[1065],"events":[{"n":1,"at":1794954320993,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954320993,"priority":750}]}]'),
	('875', 92, 1794954321002, 1, '[{"kind":"bedrock","type":"b/later","parent":null,"jobs":[1066],"events":[{"n":1,"at":1794954321000,"by":"bedrock 127.0.0.1:39788","kind":"created","due":4102444800000,"priority":500}]}]'),
	('877', 93, 1794954321007, 1, '[{"kind":"mock","type":"b/mock","parent":null,"jobs":[1067],"events":[{"n":1,"at":1794954321006,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321006,"priority":500}]}]'),
	('879', 94, 1794954321018, 1, '[{"kind":"bedrock","type":"b/unique","parent":null,"jobs":[1068],"events":[{"n":1,"at":1794954321011,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321011,"priority":500}]}]'),
	('881', 95, 1794954321025, 1, '[{"kind":"bedrock","type":"b/running","parent":null,"jobs":[1069],"events":[{"n":1,"at":1794954321024,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321024,"priority":500}]}]'),
	('884', 96, 1794954321110, 1, '[{"kind":"bedrock","type":"b/running","parent":null,"jobs":[1069],"events":[{"n":2,"at":1794954321105,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]}]'),
	('885', 97, 1794954321121, 1, '[{"kind":"bedrock","type":"b/retry","parent":null,"jobs":[1070],"events":[{"n":1,"at":1794954321120,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321120,"priority":500}]}]'),
	('887', 98, 1794954321130, 1, '[{"kind":"bedrock","type":"b/retry","parent":null,"jobs":[1070],"events":[{"n":2,"at":1794954321125,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788","until":1794957921000}]}]'),
	('888', 99, 1794954321137, 1, '[{"kind":"bedrock","type":"b/repeat","parent":null,"jobs":[1071],"events":[{"n":1,"at":1794954321131,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321131,"priority":500}]}]'),
	('890', 100, 1794954321228, 1, '[{"kind":"bedrock","type":"b/repeat","parent":null,"jobs":[1071],"events":[{"n":2,"at":1794954321148,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]}]'),
	('891', 101, 1794954321235, 1, '[{"kind":"bedrock","type":"b/repeat","parent":null,"jobs":[1071],"events":[{"n":3,"at":1794954321229,"by":"bedrock 127.0.0.1:39788","kind":"edited","edit":{"input":"{\"n\":2}"}},{"n":4,"at":1794954321229,"by":"bedrock 127.0.0.1:39788","kind":"repeated","due":1795040721000}]}]'),
	('893', 102, 1794954321241, 1, '[{"kind":"bedrock","type":"b/failed","parent":null,"jobs":[1072],"events":[{"n":1,"at":1794954321237,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321237,"priority":500}]}]'),
	('934', 132, 1794954321706, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":5,"at":1794954321706,"by":"ada","why":"edit 4","kind":"edited","edit":{"priority":4}}]}]'),
	('935', 133, 1794954321710, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1083],"events":[{"n":1,"at":1794954321707,"by":"ada","kind":"created","due":1794954321707,"priority":0}]}]'),
	('938', 134, 1794954321719, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1083],"events":[{"n":2,"at":1794954321712,"by":"ada","why":"edit 4","kind":"claimed","holder":"ada"}]}]'),
	('939', 135, 1794954321726, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1083],"events":[{"n":3,"at":1794954321725,"by":"ada","why":"edit 4","kind":"succeeded"}]}]'),
	('940', 136, 1794954321730, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":6,"at":1794954321729,"by":"ada","why":"edit 5","kind":"edited","edit":{"priority":5}}]}]'),
	('942', 137, 1794954321736, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1084],"events":[{"n":1,"at":1794954321730,"by":"ada","kind":"created","due":1794954321730,"priority":0}]}]'),
	('944', 138, 1794954321742, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1084],"events":[{"n":2,"at":1794954321738,"by":"ada","why":"edit 5","kind":"claimed","holder":"ada"}]}]'),
	('945', 139, 1794954321746, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1084],"events":[{"n":3,"at":1794954321745,"by":"ada","why":"edit 5","kind":"succeeded"}]}]'),
	('946', 140, 1794954321750, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":7,"at":1794954321750,"by":"ada","why":"edit 6","kind":"edited","edit":{"priority":6}}]}]'),
	('948', 141, 1794954321752, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1085],"events":[{"n":1,"at":1794954321750,"by":"ada","kind":"created","due":1794954321750,"priority":0}]}]'),
	('949', 142, 1794954321754, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1085],"events":[{"n":2,"at":1794954321754,"by":"ada","why":"edit 6","kind":"claimed","holder":"ada"}]}]'),
	('950', 143, 1794954321756, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1085],"events":[{"n":3,"at":1794954321755,"by":"ada","why":"edit 6","kind":"succeeded"}]}]'),
	('952', 144, 1794954321763, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":8,"at":1794954321761,"by":"ada","why":"edit 7","kind":"edited","edit":{"priority":7}}]}]'),
	('954', 145, 1794954321764, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1086],"events":[{"n":1,"at":1794954321764,"by":"ada","kind":"created","due":1794954321764,"priority":0}]}]'),
	('955', 146, 1794954321765, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1086],"events":[{"n":2,"at":1794954321765,"by":"ada","why":"edit 7","kind":"claimed","holder":"ada"}]}]'),
	('956', 147, 1794954321766, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1086],"events":[{"n":3,"at":1794954321766,"by":"ada","why":"edit 7","kind":"succeeded"}]}]'),
	('975', 161, 1794954321807, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1090],"events":[{"n":1,"at":1794954321806,"by":"ada","kind":"created","due":1794954321806,"priority":0}]}]'),
	('976', 162, 1794954321809, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1090],"events":[{"n":2,"at":1794954321808,"by":"ada","why":"edit 11","kind":"claimed","holder":"ada"}]}]'),
	('978', 163, 1794954321855, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1090],"events":[{"n":3,"at":1794954321852,"by":"ada","why":"edit 11","kind":"succeeded"}]}]'),
	('979', 164, 1794954321868, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":13,"at":1794954321867,"by":"ada","why":"edit 12","kind":"edited","edit":{"priority":12}}]}]'),
	('981', 165, 1794954321869, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1091],"events":[{"n":1,"at":1794954321868,"by":"ada","kind":"created","due":1794954321868,"priority":0}]}]'),
	('982', 166, 1794954321872, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1091],"events":[{"n":2,"at":1794954321871,"by":"ada","why":"edit 12","kind":"claimed","holder":"ada"}]}]'),
	('984', 167, 1794954321878, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1091],"events":[{"n":3,"at":1794954321876,"by":"ada","why":"edit 12","kind":"succeeded"}]}]'),
	('985', 168, 1794954321884, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":14,"at":1794954321882,"by":"ada","why":"edit 13","kind":"edited","edit":{"priority":13}}]}]'),
	('987', 169, 1794954321885, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1092],"events":[{"n":1,"at":1794954321884,"by":"ada","kind":"created","due":1794954321884,"priority":0}]}]'),
	('989', 170, 1794954321892, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1092],"events":[{"n":2,"at":1794954321888,"by":"ada","why":"edit 13","kind":"claimed","holder":"ada"}]}]'),
	('990', 171, 1794954321896, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1092],"events":[{"n":3,"at":1794954321892,"by":"ada","why":"edit 13","kind":"succeeded"}]}]'),
	('991', 172, 1794954321909, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":15,"at":1794954321907,"by":"ada","why":"edit 14","kind":"edited","edit":{"priority":14}}]}]'),
	('993', 173, 1794954321910, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1093],"events":[{"n":1,"at":1794954321909,"by":"ada","kind":"created","due":1794954321909,"priority":0}]}]'),
	('895', 103, 1794954321487, 1, '[{"kind":"bedrock","type":"b/failed","parent":null,"jobs":[1072],"events":[{"n":2,"at":1794954321486,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]}]'),
	('896', 104, 1794954321502, 1, '[{"kind":"bedrock","type":"b/failed","parent":null,"jobs":[1072],"events":[{"n":3,"at":1794954321488,"by":"bedrock 127.0.0.1:39788","kind":"edited","edit":{"input":"{\"why\":\"it broke\"}"}},{"n":4,"at":1794954321488,"by":"bedrock 127.0.0.1:39788","kind":"failed","error":{"code":"unknown","message":"its worker said that it failed"}}]}]'),
	('897', 105, 1794954321505, 1, '[{"kind":"bedrock","type":"b/finished","parent":null,"jobs":[1073],"events":[{"n":1,"at":1794954321504,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321504,"priority":500}]}]'),
	('899', 106, 1794954321512, 1, '[{"kind":"bedrock","type":"b/finished","parent":null,"jobs":[1073],"events":[{"n":2,"at":1794954321511,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]}]'),
	('900', 107, 1794954321516, 1, '[{"kind":"bedrock","type":"b/finished","parent":null,"jobs":[1073],"events":[{"n":3,"at":1794954321512,"by":"bedrock 127.0.0.1:39788","kind":"succeeded"}]}]'),
	('901', 108, 1794954321517, 1, '[{"kind":"bedrock","type":"b/parent","parent":null,"jobs":[1074],"events":[{"n":1,"at":1794954321516,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321516,"priority":500}]}]'),
	('903', 109, 1794954321522, 1, '[{"kind":"bedrock","type":"b/parent","parent":null,"jobs":[1074],"events":[{"n":2,"at":1794954321518,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]}]'),
	('904', 110, 1794954321529, 1, '[{"kind":"bedrock","type":"b/parent","parent":null,"jobs":[1074],"events":[{"n":3,"at":1794954321528,"by":"bedrock 127.0.0.1:39788","kind":"adopted","tasks":1}]}]'),
	('904', 111, 1794954321529, 1, '[{"kind":"bedrock","type":"b/child","parent":1074,"jobs":[1075],"events":[{"n":1,"at":1794954321528,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321528,"priority":500,"hold":"parent"}]}]'),
	('905', 112, 1794954321531, 1, '[{"kind":"bedrock","type":"b/parent","parent":null,"jobs":[1074],"events":[{"n":4,"at":1794954321530,"by":"bedrock 127.0.0.1:39788","kind":"adopted","tasks":1}]}]'),
	('905', 113, 1794954321531, 1, '[{"kind":"bedrock","type":"b/child","parent":1074,"jobs":[1076],"events":[{"n":1,"at":1794954321530,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321530,"priority":500,"hold":"parent"}]}]'),
	('906', 114, 1794954321545, 3, '[{"kind":"bedrock","type":"b/parent","parent":null,"jobs":[1074],"events":[{"n":5,"at":1794954321531,"by":"bedrock 127.0.0.1:39788","kind":"planned","tasks":2}]},{"kind":"bedrock","type":"b/child","parent":1074,"jobs":[1075,1076],"events":[{"n":2,"at":1794954321531,"by":"bedrock 127.0.0.1:39788","kind":"freed"}]}]'),
	('908', 115, 1794954321548, 1, '[{"kind":"bedrock","type":"b/child","parent":1074,"jobs":[1075],"events":[{"n":3,"at":1794954321547,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]}]'),
	('909', 116, 1794954321552, 1, '[{"kind":"bedrock","type":"b/child","parent":1074,"jobs":[1075],"events":[{"n":4,"at":1794954321549,"by":"bedrock 127.0.0.1:39788","kind":"edited","edit":{"input":"{\"done\":true}"}},{"n":5,"at":1794954321549,"by":"bedrock 127.0.0.1:39788","kind":"succeeded"}]}]'),
	('910', 117, 1794954321557, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1077],"events":[{"n":1,"at":1794954321556,"by":"second","kind":"created","due":1794954321556,"priority":5}]}]'),
	('912', 118, 1794954321560, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1078],"events":[{"n":1,"at":1794954321560,"by":"second","kind":"created","due":1794954321559,"priority":0}]}]'),
	('913', 119, 1794954321562, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":1,"at":1794954321560,"by":"second","kind":"created","due":4102444800000,"priority":0}]}]'),
	('916', 120, 1794954321655, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":2,"at":1794954321652,"by":"ada","why":"edit 1","kind":"edited","edit":{"priority":1}}]}]'),
	('918', 121, 1794954321656, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1080],"events":[{"n":1,"at":1794954321655,"by":"ada","kind":"created","due":1794954321655,"priority":0}]}]'),
	('920', 122, 1794954321679, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1080],"events":[{"n":2,"at":1794954321657,"by":"ada","why":"edit 1","kind":"claimed","holder":"ada"}]}]'),
	('921', 123, 1794954321680, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1080],"events":[{"n":3,"at":1794954321679,"by":"ada","why":"edit 1","kind":"succeeded"}]}]'),
	('922', 124, 1794954321689, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":3,"at":1794954321688,"by":"ada","why":"edit 2","kind":"edited","edit":{"priority":2}}]}]'),
	('924', 125, 1794954321690, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1081],"events":[{"n":1,"at":1794954321689,"by":"ada","kind":"created","due":1794954321689,"priority":0}]}]'),
	('925', 126, 1794954321691, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1081],"events":[{"n":2,"at":1794954321690,"by":"ada","why":"edit 2","kind":"claimed","holder":"ada"}]}]'),
	('926', 127, 1794954321692, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1081],"events":[{"n":3,"at":1794954321691,"by":"ada","why":"edit 2","kind":"succeeded"}]}]'),
	('928', 128, 1794954321695, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":4,"at":1794954321694,"by":"ada","why":"edit 3","kind":"edited","edit":{"priority":3}}]}]'),
	('930', 129, 1794954321697, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1082],"events":[{"n":1,"at":1794954321695,"by":"ada","kind":"created","due":1794954321695,"priority":0}]}]'),
	('931', 130, 1794954321699, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1082],"events":[{"n":2,"at":1794954321698,"by":"ada","why":"edit 3","kind":"claimed","holder":"ada"}]}]'),
	('932', 131, 1794954321702, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1082],"events":[{"n":3,"at":1794954321701,"by":"ada","why":"edit 3","kind":"succeeded"}]}]'),
	('958', 148, 1794954321771, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":9,"at":1794954321770,"by":"ada","why":"edit 8","kind":"edited","edit":{"priority":8}}]}]'),
	('959', 149, 1794954321774, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1087],"events":[{"n":1,"at":1794954321774,"by":"ada","kind":"created","due":1794954321774,"priority":0}]}]'),
	('961', 150, 1794954321781, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1087],"events":[{"n":2,"at":1794954321780,"by":"ada","why":"edit 8","kind":"claimed","holder":"ada"}]}]'),
	('962', 151, 1794954321782, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1087],"events":[{"n":3,"at":1794954321782,"by":"ada","why":"edit 8","kind":"succeeded"}]}]'),
	('963', 152, 1794954321784, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":10,"at":1794954321784,"by":"ada","why":"edit 9","kind":"edited","edit":{"priority":9}}]}]'),
	('964', 153, 1794954321785, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1088],"events":[{"n":1,"at":1794954321784,"by":"ada","kind":"created","due":1794954321784,"priority":0}]}]'),
	('965', 154, 1794954321790, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1088],"events":[{"n":2,"at":1794954321789,"by":"ada","why":"edit 9","kind":"claimed","holder":"ada"}]}]'),
	('967', 155, 1794954321797, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1088],"events":[{"n":3,"at":1794954321796,"by":"ada","why":"edit 9","kind":"succeeded"}]}]'),
	('968', 156, 1794954321799, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":11,"at":1794954321798,"by":"ada","why":"edit 10","kind":"edited","edit":{"priority":10}}]}]'),
	('970', 157, 1794954321800, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1089],"events":[{"n":1,"at":1794954321799,"by":"ada","kind":"created","due":1794954321799,"priority":0}]}]'),
	('971', 158, 1794954321800, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1089],"events":[{"n":2,"at":1794954321800,"by":"ada","why":"edit 10","kind":"claimed","holder":"ada"}]}]'),
	('972', 159, 1794954321802, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1089],"events":[{"n":3,"at":1794954321801,"by":"ada","why":"edit 10","kind":"succeeded"}]}]'),
	('973', 160, 1794954321805, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":12,"at":1794954321803,"by":"ada","why":"edit 11","kind":"edited","edit":{"priority":11}}]}]'),
	('1009', 183, 1794954322227, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1095],"events":[{"n":3,"at":1794954322226,"by":"ada","why":"edit 16","kind":"succeeded"}]}]'),
	('1010', 184, 1794954322229, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":18,"at":1794954322228,"by":"ada","why":"edit 17","kind":"edited","edit":{"priority":17}}]}]'),
	('1012', 185, 1794954322232, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1096],"events":[{"n":1,"at":1794954322231,"by":"ada","kind":"created","due":1794954322231,"priority":0}]}]'),
	('1013', 186, 1794954322233, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1096],"events":[{"n":2,"at":1794954322233,"by":"ada","why":"edit 17","kind":"claimed","holder":"ada"}]}]'),
	('1014', 187, 1794954322235, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1096],"events":[{"n":3,"at":1794954322234,"by":"ada","why":"edit 17","kind":"succeeded"}]}]'),
	('1016', 188, 1794954322242, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":19,"at":1794954322239,"by":"ada","why":"edit 18","kind":"edited","edit":{"priority":18}}]}]'),
	('1017', 189, 1794954322243, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1097],"events":[{"n":1,"at":1794954322242,"by":"ada","kind":"created","due":1794954322242,"priority":0}]}]'),
	('1019', 190, 1794954322247, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1097],"events":[{"n":2,"at":1794954322244,"by":"ada","why":"edit 18","kind":"claimed","holder":"ada"}]}]'),
	('1020', 191, 1794954322249, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1097],"events":[{"n":3,"at":1794954322248,"by":"ada","why":"edit 18","kind":"succeeded"}]}]'),
	('1021', 192, 1794954322256, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":20,"at":1794954322252,"by":"ada","why":"edit 19","kind":"edited","edit":{"priority":19}}]}]'),
	('1023', 193, 1794954322257, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1098],"events":[{"n":1,"at":1794954322256,"by":"ada","kind":"created","due":1794954322256,"priority":0}]}]'),
	('1024', 194, 1794954322258, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1098],"events":[{"n":2,"at":1794954322257,"by":"ada","why":"edit 19","kind":"claimed","holder":"ada"}]}]'),
	('1026', 195, 1794954322265, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1098],"events":[{"n":3,"at":1794954322264,"by":"ada","why":"edit 19","kind":"succeeded"}]}]'),
	('1027', 196, 1794954322275, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":21,"at":1794954322275,"by":"ada","why":"edit 20","kind":"edited","edit":{"priority":20}}]}]'),
	('1029', 197, 1794954322279, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1099],"events":[{"n":1,"at":1794954322278,"by":"ada","kind":"created","due":1794954322278,"priority":0}]}]'),
	('1030', 198, 1794954322280, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1099],"events":[{"n":2,"at":1794954322279,"by":"ada","why":"edit 20","kind":"claimed","holder":"ada"}]}]'),
	('1031', 199, 1794954322283, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1099],"events":[{"n":3,"at":1794954322281,"by":"ada","why":"edit 20","kind":"succeeded"}]}]'),
	('994', 174, 1794954321913, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1093],"events":[{"n":2,"at":1794954321912,"by":"ada","why":"edit 14","kind":"claimed","holder":"ada"}]}]'),
	('996', 175, 1794954321916, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1093],"events":[{"n":3,"at":1794954321914,"by":"ada","why":"edit 14","kind":"succeeded"}]}]'),
	('997', 176, 1794954321920, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":16,"at":1794954321917,"by":"ada","why":"edit 15","kind":"edited","edit":{"priority":15}}]}]'),
	('998', 177, 1794954321949, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1094],"events":[{"n":1,"at":1794954321948,"by":"ada","kind":"created","due":1794954321948,"priority":0}]}]'),
	('1001', 178, 1794954321980, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1094],"events":[{"n":2,"at":1794954321980,"by":"ada","why":"edit 15","kind":"claimed","holder":"ada"}]}]'),
	('1002', 179, 1794954322009, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1094],"events":[{"n":3,"at":1794954322006,"by":"ada","why":"edit 15","kind":"succeeded"}]}]'),
	('1003', 180, 1794954322032, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":17,"at":1794954322032,"by":"ada","why":"edit 16","kind":"edited","edit":{"priority":16}}]}]'),
	('1005', 181, 1794954322036, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1095],"events":[{"n":1,"at":1794954322035,"by":"ada","kind":"created","due":1794954322035,"priority":0}]}]'),
	('1007', 182, 1794954322219, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1095],"events":[{"n":2,"at":1794954322218,"by":"ada","why":"edit 16","kind":"claimed","holder":"ada"}]}]'),
	('1033', 200, 1794954322288, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":22,"at":1794954322287,"by":"ada","why":"edit 21","kind":"edited","edit":{"priority":21}}]}]'),
	('1034', 201, 1794954322379, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1100],"events":[{"n":1,"at":1794954322378,"by":"ada","kind":"created","due":1794954322378,"priority":0}]}]'),
	('1036', 202, 1794954322387, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1100],"events":[{"n":2,"at":1794954322386,"by":"ada","why":"edit 21","kind":"claimed","holder":"ada"}]}]'),
	('1038', 203, 1794954322395, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1100],"events":[{"n":3,"at":1794954322393,"by":"ada","why":"edit 21","kind":"succeeded"}]}]'),
	('1039', 204, 1794954322403, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":23,"at":1794954322402,"by":"ada","why":"edit 22","kind":"edited","edit":{"priority":22}}]}]'),
	('1041', 205, 1794954322409, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1101],"events":[{"n":1,"at":1794954322407,"by":"ada","kind":"created","due":1794954322407,"priority":0}]}]'),
	('1043', 206, 1794954322476, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1101],"events":[{"n":2,"at":1794954322440,"by":"ada","why":"edit 22","kind":"claimed","holder":"ada"}]}]'),
	('1044', 207, 1794954322540, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1101],"events":[{"n":3,"at":1794954322477,"by":"ada","why":"edit 22","kind":"succeeded"}]}]'),
	('1045', 208, 1794954322543, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":24,"at":1794954322542,"by":"ada","why":"edit 23","kind":"edited","edit":{"priority":23}}]}]'),
	('1047', 209, 1794954322713, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1102],"events":[{"n":1,"at":1794954322697,"by":"ada","kind":"created","due":1794954322697,"priority":0}]}]'),
	('1050', 210, 1794954322780, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1102],"events":[{"n":2,"at":1794954322764,"by":"ada","why":"edit 23","kind":"claimed","holder":"ada"}]}]'),
	('1051', 211, 1794954322881, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1102],"events":[{"n":3,"at":1794954322880,"by":"ada","why":"edit 23","kind":"succeeded"}]}]'),
	('1052', 212, 1794954322889, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":25,"at":1794954322888,"by":"ada","why":"edit 24","kind":"edited","edit":{"priority":24}}]}]'),
	('1054', 213, 1794954322904, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1103],"events":[{"n":1,"at":1794954322900,"by":"ada","kind":"created","due":1794954322900,"priority":0}]}]'),
	('1056', 214, 1794954322912, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1103],"events":[{"n":2,"at":1794954322906,"by":"ada","why":"edit 24","kind":"claimed","holder":"ada"}]}]'),
	('1057', 215, 1794954322954, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1103],"events":[{"n":3,"at":1794954322944,"by":"ada","why":"edit 24","kind":"succeeded"}]}]'),
	('1058', 216, 1794954322960, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":26,"at":1794954322959,"by":"ada","why":"edit 25","kind":"edited","edit":{"priority":25}}]}]'),
	('1060', 217, 1794954322963, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1104],"events":[{"n":1,"at":1794954322960,"by":"ada","kind":"created","due":1794954322960,"priority":0}]}]'),
	('1062', 218, 1794954322967, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1104],"events":[{"n":2,"at":1794954322965,"by":"ada","why":"edit 25","kind":"claimed","holder":"ada"}]}]'),
	('1063', 219, 1794954322971, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1104],"events":[{"n":3,"at":1794954322968,"by":"ada","why":"edit 25","kind":"succeeded"}]}]'),
	('1064', 220, 1794954322975, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":27,"at":1794954322973,"by":"ada","why":"edit 26","kind":"edited","edit":{"priority":26}}]}]'),
	('1066', 221, 1794954322977, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1105],"events":[{"n":1,"at":1794954322975,"by":"ada","kind":"created","due":1794954322975,"priority":0}]}]'),
	('1067', 222, 1794954322982, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1105],"events":[{"n":2,"at":1794954322980,"by":"ada","why":"edit 26","kind":"claimed","holder":"ada"}]}]'),
	('1087', 236, 1794954323010, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":31,"at":1794954323009,"by":"ada","why":"edit 30","kind":"edited","edit":{"priority":30}}]}]'),
	('1088', 237, 1794954323011, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1109],"events":[{"n":1,"at":1794954323010,"by":"ada","kind":"created","due":1794954323010,"priority":0}]}]'),
	('1089', 238, 1794954323015, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1109],"events":[{"n":2,"at":1794954323013,"by":"ada","why":"edit 30","kind":"claimed","holder":"ada"}]}]'),
	('1091', 239, 1794954323018, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1109],"events":[{"n":3,"at":1794954323017,"by":"ada","why":"edit 30","kind":"succeeded"}]}]'),
	('1069', 223, 1794954322984, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1105],"events":[{"n":3,"at":1794954322983,"by":"ada","why":"edit 26","kind":"succeeded"}]}]'),
	('1071', 224, 1794954322994, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":28,"at":1794954322986,"by":"ada","why":"edit 27","kind":"edited","edit":{"priority":27}}]}]'),
	('1072', 225, 1794954322995, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1106],"events":[{"n":1,"at":1794954322994,"by":"ada","kind":"created","due":1794954322994,"priority":0}]}]'),
	('1073', 226, 1794954322997, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1106],"events":[{"n":2,"at":1794954322996,"by":"ada","why":"edit 27","kind":"claimed","holder":"ada"}]}]'),
	('1074', 227, 1794954322998, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1106],"events":[{"n":3,"at":1794954322997,"by":"ada","why":"edit 27","kind":"succeeded"}]}]'),
	('1075', 228, 1794954323000, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":29,"at":1794954322999,"by":"ada","why":"edit 28","kind":"edited","edit":{"priority":28}}]}]'),
	('1077', 229, 1794954323001, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1107],"events":[{"n":1,"at":1794954323000,"by":"ada","kind":"created","due":1794954323000,"priority":0}]}]'),
	('1079', 230, 1794954323002, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1107],"events":[{"n":2,"at":1794954323002,"by":"ada","why":"edit 28","kind":"claimed","holder":"ada"}]}]'),
	('1080', 231, 1794954323003, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1107],"events":[{"n":3,"at":1794954323003,"by":"ada","why":"edit 28","kind":"succeeded"}]}]'),
	('1081', 232, 1794954323005, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":30,"at":1794954323004,"by":"ada","why":"edit 29","kind":"edited","edit":{"priority":29}}]}]'),
	('1082', 233, 1794954323006, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1108],"events":[{"n":1,"at":1794954323005,"by":"ada","kind":"created","due":1794954323005,"priority":0}]}]'),
	('1084', 234, 1794954323007, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1108],"events":[{"n":2,"at":1794954323007,"by":"ada","why":"edit 29","kind":"claimed","holder":"ada"}]}]'),
	('1085', 235, 1794954323008, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1108],"events":[{"n":3,"at":1794954323008,"by":"ada","why":"edit 29","kind":"succeeded"}]}]'),
	('1146', 276, 1794954323815, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":41,"at":1794954323815,"by":"ada","why":"edit 40","kind":"edited","edit":{"priority":40}}]}]'),
	('1148', 277, 1794954323817, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1119],"events":[{"n":1,"at":1794954323816,"by":"ada","kind":"created","due":1794954323816,"priority":0}]}]'),
	('1149', 278, 1794954323821, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1119],"events":[{"n":2,"at":1794954323818,"by":"ada","why":"edit 40","kind":"claimed","holder":"ada"}]}]'),
	('1151', 279, 1794954323904, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1119],"events":[{"n":3,"at":1794954323902,"by":"ada","why":"edit 40","kind":"succeeded"}]}]'),
	('1152', 280, 1794954323905, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1120],"events":[{"n":1,"at":1794954323904,"by":"second","kind":"created","due":1794954323904,"priority":0}]}]'),
	('1154', 281, 1794954323916, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1120],"events":[{"n":2,"at":1794954323915,"by":"ada","kind":"paused"}]}]'),
	('1155', 282, 1794954323925, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1121],"events":[{"n":1,"at":1794954323923,"by":"ada","kind":"created","due":1794954323923,"priority":0}]}]'),
	('1157', 283, 1794954323936, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1121],"events":[{"n":2,"at":1794954323931,"by":"ada","kind":"claimed","holder":"ada"}]}]'),
	('1158', 284, 1794954323941, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1121],"events":[{"n":3,"at":1794954323940,"by":"ada","kind":"succeeded"}]}]'),
	('1092', 240, 1794954323044, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":32,"at":1794954323028,"by":"ada","why":"edit 31","kind":"edited","edit":{"priority":31}}]}]'),
	('1094', 241, 1794954323048, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1110],"events":[{"n":1,"at":1794954323045,"by":"ada","kind":"created","due":1794954323045,"priority":0}]}]'),
	('1096', 242, 1794954323049, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1110],"events":[{"n":2,"at":1794954323048,"by":"ada","why":"edit 31","kind":"claimed","holder":"ada"}]}]'),
	('1097', 243, 1794954323055, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1110],"events":[{"n":3,"at":1794954323052,"by":"ada","why":"edit 31","kind":"succeeded"}]}]'),
	('1098', 244, 1794954323060, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":33,"at":1794954323059,"by":"ada","why":"edit 32","kind":"edited","edit":{"priority":32}}]}]'),
	('1100', 245, 1794954323062, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1111],"events":[{"n":1,"at":1794954323060,"by":"ada","kind":"created","due":1794954323060,"priority":0}]}]'),
	('1102', 246, 1794954323072, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1111],"events":[{"n":2,"at":1794954323062,"by":"ada","why":"edit 32","kind":"claimed","holder":"ada"}]}]'),
	('1104', 247, 1794954323336, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1111],"events":[{"n":3,"at":1794954323308,"by":"ada","why":"edit 32","kind":"succeeded"}]}]'),
	('1105', 248, 1794954323352, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":34,"at":1794954323350,"by":"ada","why":"edit 33","kind":"edited","edit":{"priority":33}}]}]'),
	('1107', 249, 1794954323352, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1112],"events":[{"n":1,"at":1794954323352,"by":"ada","kind":"created","due":1794954323352,"priority":0}]}]'),
	('1108', 250, 1794954323355, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1112],"events":[{"n":2,"at":1794954323353,"by":"ada","why":"edit 33","kind":"claimed","holder":"ada"}]}]'),
	('1109', 251, 1794954323511, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1112],"events":[{"n":3,"at":1794954323510,"by":"ada","why":"edit 33","kind":"succeeded"}]}]'),
	('1111', 252, 1794954323558, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":35,"at":1794954323557,"by":"ada","why":"edit 34","kind":"edited","edit":{"priority":34}}]}]'),
	('1113', 253, 1794954323560, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1113],"events":[{"n":1,"at":1794954323559,"by":"ada","kind":"created","due":1794954323559,"priority":0}]}]'),
	('1115', 254, 1794954323566, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1113],"events":[{"n":2,"at":1794954323565,"by":"ada","why":"edit 34","kind":"claimed","holder":"ada"}]}]'),
	('1116', 255, 1794954323567, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1113],"events":[{"n":3,"at":1794954323567,"by":"ada","why":"edit 34","kind":"succeeded"}]}]'),
	('1117', 256, 1794954323575, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":36,"at":1794954323574,"by":"ada","why":"edit 35","kind":"edited","edit":{"priority":35}}]}]'),
	('1119', 257, 1794954323576, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1114],"events":[{"n":1,"at":1794954323576,"by":"ada","kind":"created","due":1794954323576,"priority":0}]}]'),
	('1120', 258, 1794954323578, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1114],"events":[{"n":2,"at":1794954323578,"by":"ada","why":"edit 35","kind":"claimed","holder":"ada"}]}]'),
	('1122', 259, 1794954323582, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1114],"events":[{"n":3,"at":1794954323580,"by":"ada","why":"edit 35","kind":"succeeded"}]}]'),
	('1123', 260, 1794954323585, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":37,"at":1794954323584,"by":"ada","why":"edit 36","kind":"edited","edit":{"priority":36}}]}]'),
	('1124', 261, 1794954323585, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1115],"events":[{"n":1,"at":1794954323585,"by":"ada","kind":"created","due":1794954323585,"priority":0}]}]'),
	('1125', 262, 1794954323587, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1115],"events":[{"n":2,"at":1794954323586,"by":"ada","why":"edit 36","kind":"claimed","holder":"ada"}]}]'),
	('1126', 263, 1794954323590, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1115],"events":[{"n":3,"at":1794954323589,"by":"ada","why":"edit 36","kind":"succeeded"}]}]'),
	('1128', 264, 1794954323593, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":38,"at":1794954323592,"by":"ada","why":"edit 37","kind":"edited","edit":{"priority":37}}]}]'),
	('1129', 265, 1794954323595, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1116],"events":[{"n":1,"at":1794954323594,"by":"ada","kind":"created","due":1794954323594,"priority":0}]}]'),
	('1131', 266, 1794954323603, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1116],"events":[{"n":2,"at":1794954323601,"by":"ada","why":"edit 37","kind":"claimed","holder":"ada"}]}]'),
	('1132', 267, 1794954323605, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1116],"events":[{"n":3,"at":1794954323603,"by":"ada","why":"edit 37","kind":"succeeded"}]}]'),
	('1133', 268, 1794954323612, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":39,"at":1794954323608,"by":"ada","why":"edit 38","kind":"edited","edit":{"priority":38}}]}]'),
	('1135', 269, 1794954323778, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1117],"events":[{"n":1,"at":1794954323776,"by":"ada","kind":"created","due":1794954323776,"priority":0}]}]'),
	('1137', 270, 1794954323785, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1117],"events":[{"n":2,"at":1794954323785,"by":"ada","why":"edit 38","kind":"claimed","holder":"ada"}]}]'),
	('1138', 271, 1794954323791, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1117],"events":[{"n":3,"at":1794954323790,"by":"ada","why":"edit 38","kind":"succeeded"}]}]'),
	('1139', 272, 1794954323802, 1, '[{"kind":"run","type":"greet","parent":null,"jobs":[1079],"events":[{"n":40,"at":1794954323801,"by":"ada","why":"edit 39","kind":"edited","edit":{"priority":39}}]}]'),
	('1141', 273, 1794954323806, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1118],"events":[{"n":1,"at":1794954323802,"by":"ada","kind":"created","due":1794954323802,"priority":0}]}]'),
	('1143', 274, 1794954323811, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1118],"events":[{"n":2,"at":1794954323811,"by":"ada","why":"edit 39","kind":"claimed","holder":"ada"}]}]'),
	('1144', 275, 1794954323813, 1, '[{"kind":"audit","type":"stint.audit","parent":null,"jobs":[1118],"events":[{"n":3,"at":1794954323812,"by":"ada","why":"edit 39","kind":"succeeded"}]}]');

INSERT INTO stint.instance VALUES
	('second', 1794954318373, 1794954324837, 1794954339837, '{"host":"host","pid":23327,"version":"0.1.0","types":["greet","broken","refused","later","forever","limited","approve","crawl","planning","stint.bulk"],"isolated":[],"slots":16,"busy":10,"draining":true}');

INSERT INTO stint.job VALUES
	(1, 1, NULL, 1794954315633, 0, 1794979800000, 0, NULL, '728', 0, 0, 'def', 'greet', 'digest', 'pending', NULL, 'run', NULL, NULL, '{"code":{"type":"greet","params":{"name":"the team"},"schedules":[{"kind":"cron","text":"30 6 * * *","zone":"Europe/Berlin"}],"policy":{},"priority":0,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":{"from":"a schedule"},"phase":"run","gate":null,"limitKey":null},"override":null}', '{"changed":1794954315633,"plan":{"schedules":[{"activated":1794954315633,"lastNominal":null,"next":{"nominal":1794979800000,"due":1794979800000},"run":null}]},"unique":{"key":"def digest","forMs":null}}', '[{"n":1,"at":1794954315633,"by":"first","kind":"created","due":1794979800000,"priority":0,"plan":{"schedules":[{"activated":1794954315633,"lastNominal":null,"next":{"nominal":1794979800000,"due":1794979800000},"run":null}]}}]'),
	(2, 4, NULL, 1794954315650, 0, 1794954318650, 0, NULL, '815', 0, 0, 'def', 'greet', 'pulse', 'held', 'pause', 'run', NULL, NULL, '{"code":{"type":"greet","params":{"name":"pulse"},"schedules":[{"kind":"every","everyMs":1000,"from":"scheduled"}],"policy":{},"priority":0,"overlap":"allow","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null},"override":null}', '{"changed":1794954318004,"plan":{"schedules":[{"activated":1794954315650,"lastNominal":1794954317650,"next":{"nominal":1794954318650,"due":1794954318650},"run":null}]},"unique":{"key":"def pulse","forMs":null}}', '[{"n":1,"at":1794954315650,"by":"first","kind":"created","due":1794954316650,"priority":0,"plan":{"schedules":[{"activated":1794954315650,"lastNominal":null,"next":{"nominal":1794954316650,"due":1794954316650},"run":null}]}}]
[{"n":2,"at":1794954316772,"by":"first","kind":"ticked","ticks":[{"schedule":0,"nominal":1794954316650,"run":11,"lateMs":122}],"plan":{"schedules":[{"activated":1794954315650,"lastNominal":1794954316650,"next":{"nominal":1794954317650,"due":1794954317650},"run":null}]},"due":1794954317650}]
[{"n":3,"at":1794954317680,"by":"first","kind":"ticked","ticks":[{"schedule":0,"nominal":1794954317650,"run":14,"lateMs":30}],"plan":{"schedules":[{"activated":1794954315650,"lastNominal":1794954317650,"next":{"nominal":1794954318650,"due":1794954318650},"run":null}]},"due":1794954318650}]
[{"n":4,"at":1794954318004,"by":"ada","why":"it has shown enough","kind":"paused"}]'),
	(4, 2, NULL, 1794954315660, 0, 253402300799999, 0, NULL, '820', 0, 0, 'def', 'greet', 'by hand', 'pending', NULL, 'run', NULL, NULL, '{"code":{"type":"greet","params":{"name":"somebody"},"schedules":[],"policy":{"timeoutMs":7000},"priority":3,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null},"override":{"priority":9}}', '{"changed":1794954318034,"plan":{"schedules":[]},"unique":{"key":"def by hand","forMs":null}}', '[{"n":1,"at":1794954315660,"by":"first","kind":"created","due":253402300799999,"priority":0,"plan":{"schedules":[]}}]
[{"n":2,"at":1794954318034,"by":"ada","kind":"edited","edit":{"type":"greet","input":"{\"code\":{\"type\":\"greet\",\"params\":{\"name\":\"somebody\"},\"schedules\":[],\"policy\":{\"timeoutMs\":7000},\"priority\":3,\"overlap\":\"skip\",\"misfire\":{\"policy\":\"once\",\"windowMs\":86400000,\"cap\":100,\"graceMs\":60000},\"onePerType\":false,\"inMemory\":false,\"manualRuns\":true,\"tags\":null,\"phase\":\"run\",\"gate\":null,\"limitKey\":null},\"override\":{\"priority\":9}}","plan":{"schedules":[]},"due":253402300799999}}]'),
	(3, 1, NULL, 1794954315650, 0, 1794957915650, 0, NULL, '731', 0, 0, 'def', 'greet', 'disabled', 'held', 'pause', 'run', NULL, NULL, '{"code":{"type":"greet","params":{"name":"nobody"},"schedules":[{"kind":"every","everyMs":3600000,"from":"scheduled"}],"policy":{},"priority":0,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null},"override":null}', '{"changed":1794954315650,"plan":{"schedules":[{"activated":1794954315650,"lastNominal":null,"next":{"nominal":1794957915650,"due":1794957915650},"run":null}]},"unique":{"key":"def disabled","forMs":null}}', '[{"n":1,"at":1794954315650,"by":"first","kind":"created","due":1794957915650,"priority":0,"plan":{"schedules":[{"activated":1794954315650,"lastNominal":null,"next":{"nominal":1794957915650,"due":1794957915650},"run":null}]},"hold":"pause"}]'),
	(26, 1, NULL, 1794954318060, 0, 1826490318060, 0, NULL, '826', 0, 0, 'def', 'greet', 'made by hand', 'pending', NULL, 'run', NULL, NULL, '{"code":{"type":"greet","params":{"name":"ops"},"schedules":[{"kind":"every","everyMs":31536000000,"from":"scheduled"}],"policy":{},"priority":0,"overlap":"skip","misfire":{"policy":"once","windowMs":86400000,"cap":100,"graceMs":60000},"onePerType":false,"inMemory":false,"manualRuns":true,"tags":null,"phase":"run","gate":null,"limitKey":null},"override":null}', '{"changed":1794954318060,"plan":{"schedules":[{"activated":1794954318060,"lastNominal":null,"next":{"nominal":1826490318060,"due":1826490318060},"run":null}]},"unique":{"key":"def made by hand","forMs":null}}', '[{"n":1,"at":1794954318060,"by":"ada","kind":"created","due":1826490318060,"priority":0,"plan":{"schedules":[{"activated":1794954318060,"lastNominal":null,"next":{"nominal":1826490318060,"due":1826490318060},"run":null}]}}]'),
	(32, 3, NULL, 1794954318376, 0, 1794954349149, 1, NULL, '840', 0, 0, 'run', 'later', NULL, 'pending', NULL, 'run', NULL, NULL, 'null', '{"changed":1794954319150,"attempt":1,"startedAt":1794954319130,"error":{"code":"unknown","message":"not yet","stack":"RetryAfter: not yet"},"tags":{"case":"waits for a retry"}}', '[{"n":1,"at":1794954318376,"by":"second","kind":"created","due":1794954318376,"priority":0}]
[{"n":2,"at":1794954319130,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319150,"by":"second","kind":"retried","error":{"code":"unknown","message":"not yet","stack":"RetryAfter: not yet"},"due":1794954349149}]'),
	(33, 2, NULL, 1794954319171, 0, 1794954319171, 1, NULL, '847', 0, 0, 'run', 'forever', NULL, 'running', NULL, 'run', 'second', NULL, 'null', '{"changed":1794954319185,"attempt":1,"startedAt":1794954319185,"policy":{"timeoutMs":3600000},"tags":{"case":"running"}}', '[{"n":1,"at":1794954319171,"by":"second","kind":"created","due":1794954319171,"priority":0}]
[{"n":2,"at":1794954319185,"by":"second","kind":"claimed","holder":"second"}]'),
	(40, 1, NULL, 1794954319188, 0, 1794954319188, 0, NULL, '851', 0, 0, 'run', 'limited', NULL, 'pending', NULL, 'run', NULL, 'any/limited//a/3/', '{"customer":"a"}', '{"changed":1794954319188,"tags":{"case":"limited"}}', '[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]'),
	(35, 3, NULL, 1794954319181, 0, 1794954319181, 1, 4386954319189, '851', 0, 0, 'run', 'approve', NULL, 'running', NULL, 'run', 'token 35.1', NULL, 'null', '{"changed":1794954319194,"attempt":1,"startedAt":1794954319181,"tags":{"case":"handed off"}}', '[{"n":1,"at":1794954319181,"by":"second","kind":"created","due":1794954319181,"priority":0},{"n":2,"at":1794954319181,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319194,"by":"second","kind":"handedOff","holder":"token 35.1","until":4386954319189}]'),
	(39, 2, NULL, 1794954319188, 0, 1794954319188, 1, NULL, '860', 1, 0, 'run', 'limited', NULL, 'running', NULL, 'run', 'second', 'any/limited//a/3/', '{"customer":"a"}', '{"changed":1794954319290,"attempt":1,"startedAt":1794954319290,"tags":{"case":"limited"}}', '[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]'),
	(41, 2, NULL, 1794954319188, 0, 1794954319188, 1, NULL, '860', 1, 0, 'run', 'limited', NULL, 'running', NULL, 'run', 'second', 'any/limited//b/3/', '{"customer":"b"}', '{"changed":1794954319290,"attempt":1,"startedAt":1794954319290,"tags":{"case":"limited"}}', '[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]'),
	(34, 3, NULL, 1794954319179, 0, 1794954319179, 1, NULL, '861', 0, 1, 'run', 'forever', NULL, 'running', NULL, 'run', 'second', NULL, 'null', '{"changed":1794954319324,"attempt":1,"startedAt":1794954319185,"cancel":{"by":"ada","at":1794954319324,"code":"user","why":"not needed","fate":"cancelled","stopAt":null},"policy":{"timeoutMs":3600000},"tags":{"case":"cancel asked"}}', '[{"n":1,"at":1794954319179,"by":"second","kind":"created","due":1794954319179,"priority":0}]
[{"n":2,"at":1794954319185,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319324,"by":"ada","why":"not needed","kind":"cancelAsked","note":{"by":"ada","at":1794954319324,"code":"user","why":"not needed","fate":"cancelled","stopAt":null}}]'),
	(42, 1, NULL, 1794954319188, 0, 1794954319188, 0, NULL, '851', 0, 0, 'run', 'limited', NULL, 'pending', NULL, 'run', NULL, 'any/limited//b/3/', '{"customer":"b"}', '{"changed":1794954319188,"tags":{"case":"limited"}}', '[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]'),
	(44, 1, NULL, 1794954319188, 0, 1794954319188, 0, NULL, '851', 0, 0, 'run', 'limited', NULL, 'pending', NULL, 'run', NULL, 'any/limited//d/3/', '{"customer":"d"}', '{"changed":1794954319188,"tags":{"case":"limited"}}', '[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]'),
	(46, 2, NULL, 1794954319207, 0, 1794954319207, 1, NULL, '855', 0, 0, 'run', 'planning', NULL, 'running', NULL, 'prepare', 'second', NULL, 'null', '{"changed":1794954319207,"attempt":1,"startedAt":1794954319207,"tags":{"case":"planning"}}', '[{"n":1,"at":1794954319207,"by":"second","kind":"created","due":1794954319207,"priority":0,"phase":"prepare"},{"n":2,"at":1794954319207,"by":"second","kind":"claimed","holder":"second"}]'),
	(45, 3, NULL, 1794954319199, 0, 1794954319199, 1, NULL, '856', 0, 0, 'run', 'crawl', NULL, 'held', 'children', 'gather', NULL, NULL, '{"pages":8,"stuckFrom":5}', '{"changed":1794954319215,"startedAt":1794954319199,"details":"{\"agent\":\"crawler of 8 pages\"}","policy":{"attemptsMax":1},"tags":{"case":"tasks open"}}', '[{"n":1,"at":1794954319199,"by":"second","kind":"created","due":1794954319199,"priority":0,"phase":"prepare"},{"n":2,"at":1794954319199,"by":"second","kind":"claimed","holder":"second"}]
[{"n":3,"at":1794954319215,"by":"second","kind":"planned","tasks":8,"details":"{\"agent\":\"crawler of 8 pages\"}"}]'),
	(43, 2, NULL, 1794954319188, 0, 1794954319188, 1, NULL, '860', 1, 0, 'run', 'limited', NULL, 'running', NULL, 'run', 'second', 'any/limited//c/3/', '{"customer":"c"}', '{"changed":1794954319290,"attempt":1,"startedAt":1794954319290,"tags":{"case":"limited"}}', '[{"n":1,"at":1794954319188,"by":"second","kind":"created","due":1794954319188,"priority":0}]
[{"n":2,"at":1794954319290,"by":"second","kind":"claimed","holder":"second"}]'),
	(51, 2, 45, 1794954319208, 0, 1794954319208, 1, NULL, '869', 1, 0, 'task', 'crawl', NULL, 'running', NULL, 'run', 'second', 'any/crawl%20tasks///4/', '{"page":5,"stuckFrom":5}', '{"changed":1794954319375,"key":"page 5","attempt":1,"startedAt":1794954319375,"policy":{"attemptsMax":1}}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319375,"by":"second","kind":"claimed","holder":"second"}]'),
	(52, 2, 45, 1794954319208, 0, 1794954319208, 1, NULL, '869', 1, 0, 'task', 'crawl', NULL, 'running', NULL, 'run', 'second', 'any/crawl%20tasks///4/', '{"page":6,"stuckFrom":5}', '{"changed":1794954319375,"key":"page 6","attempt":1,"startedAt":1794954319375,"policy":{"attemptsMax":1}}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319375,"by":"second","kind":"claimed","holder":"second"}]'),
	(53, 2, 45, 1794954319208, 0, 1794954319208, 1, NULL, '869', 1, 0, 'task', 'crawl', NULL, 'running', NULL, 'run', 'second', 'any/crawl%20tasks///4/', '{"page":7,"stuckFrom":5}', '{"changed":1794954319375,"key":"page 7","attempt":1,"startedAt":1794954319375,"policy":{"attemptsMax":1}}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319375,"by":"second","kind":"claimed","holder":"second"}]'),
	(54, 2, 45, 1794954319208, 0, 1794954319208, 1, NULL, '869', 1, 0, 'task', 'crawl', NULL, 'running', NULL, 'run', 'second', 'any/crawl%20tasks///4/', '{"page":8,"stuckFrom":5}', '{"changed":1794954319375,"key":"page 8","attempt":1,"startedAt":1794954319375,"policy":{"attemptsMax":1}}', '[{"n":1,"at":1794954319208,"by":"second","kind":"created","due":1794954319208,"priority":0}]
[{"n":2,"at":1794954319375,"by":"second","kind":"claimed","holder":"second"}]'),
	(1065, 1, NULL, 1794954320993, 750, 1794954320993, 0, NULL, '873', 0, 0, 'bedrock', 'b/queued', NULL, 'pending', NULL, 'run', NULL, NULL, '{"n":1}', '{"changed":1794954320993}', '[{"n":1,"at":1794954320993,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954320993,"priority":750}]'),
	(1066, 1, NULL, 1794954321000, 500, 4102444800000, 0, NULL, '875', 0, 0, 'bedrock', 'b/later', NULL, 'pending', NULL, 'run', NULL, NULL, '{}', '{"changed":1794954321000}', '[{"n":1,"at":1794954321000,"by":"bedrock 127.0.0.1:39788","kind":"created","due":4102444800000,"priority":500}]'),
	(1067, 1, NULL, 1794954321006, 500, 1794954321006, 0, NULL, '877', 0, 0, 'mock', 'b/mock', NULL, 'pending', NULL, 'run', NULL, NULL, '{"mockRequest":true}', '{"changed":1794954321006}', '[{"n":1,"at":1794954321006,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321006,"priority":500}]'),
	(1068, 1, NULL, 1794954321011, 500, 1794954321011, 0, NULL, '879', 0, 0, 'bedrock', 'b/unique', NULL, 'pending', NULL, 'run', NULL, NULL, '{"n":1}', '{"changed":1794954321011,"unique":{"key":"bedrock b/unique","forMs":null}}', '[{"n":1,"at":1794954321011,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321011,"priority":500}]'),
	(1069, 2, NULL, 1794954321024, 500, 1794954321024, 1, NULL, '884', 0, 0, 'bedrock', 'b/running', NULL, 'running', NULL, 'run', 'bedrock 127.0.0.1:39788', NULL, '{"n":1}', '{"changed":1794954321105,"attempt":1,"startedAt":1794954321105}', '[{"n":1,"at":1794954321024,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321024,"priority":500}]
[{"n":2,"at":1794954321105,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]'),
	(1070, 2, NULL, 1794954321120, 500, 1794954321120, 1, 1794957921000, '887', 0, 0, 'bedrock', 'b/retry', NULL, 'running', NULL, 'run', 'bedrock 127.0.0.1:39788', NULL, '{"n":1}', '{"changed":1794954321125,"attempt":1,"startedAt":1794954321125,"policy":{"retryAfter":"+1 HOUR","crashesMax":1000,"handOutsMax":10}}', '[{"n":1,"at":1794954321120,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321120,"priority":500}]
[{"n":2,"at":1794954321125,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788","until":1794957921000}]'),
	(1071, 4, NULL, 1794954321131, 500, 1795040721000, 1, NULL, '891', 0, 0, 'bedrock', 'b/repeat', NULL, 'pending', NULL, 'run', NULL, NULL, '{"n":2}', '{"changed":1794954321229,"startedAt":1794954321148,"policy":{"repeat":"SCHEDULED, +1 DAY"}}', '[{"n":1,"at":1794954321131,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321131,"priority":500}]
[{"n":2,"at":1794954321148,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]
[{"n":3,"at":1794954321229,"by":"bedrock 127.0.0.1:39788","kind":"edited","edit":{"input":"{\"n\":2}"}},{"n":4,"at":1794954321229,"by":"bedrock 127.0.0.1:39788","kind":"repeated","due":1795040721000}]'),
	(1077, 1, NULL, 1794954321556, 5, 1794954321556, 0, NULL, '910', 0, 0, 'run', 'greet', NULL, 'pending', NULL, 'run', NULL, NULL, '{"name":"Grace"}', '{"changed":1794954321556,"tags":{"case":"pending"}}', '[{"n":1,"at":1794954321556,"by":"second","kind":"created","due":1794954321556,"priority":5}]'),
	(1074, 5, NULL, 1794954321516, 500, 1794954321516, 1, NULL, '906', 0, 0, 'bedrock', 'b/parent', NULL, 'held', 'children', 'run', NULL, NULL, '{"n":1}', '{"changed":1794954321531,"startedAt":1794954321518}', '[{"n":1,"at":1794954321516,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321516,"priority":500}]
[{"n":2,"at":1794954321518,"by":"bedrock 127.0.0.1:39788","kind":"claimed","holder":"bedrock 127.0.0.1:39788"}]
[{"n":3,"at":1794954321528,"by":"bedrock 127.0.0.1:39788","kind":"adopted","tasks":1}]
[{"n":4,"at":1794954321530,"by":"bedrock 127.0.0.1:39788","kind":"adopted","tasks":1}]
[{"n":5,"at":1794954321531,"by":"bedrock 127.0.0.1:39788","kind":"planned","tasks":2}]'),
	(1076, 2, 1074, 1794954321530, 500, 1794954321530, 0, NULL, '906', 0, 0, 'bedrock', 'b/child', NULL, 'pending', NULL, 'run', NULL, NULL, '{"second":true}', '{"changed":1794954321531}', '[{"n":1,"at":1794954321530,"by":"bedrock 127.0.0.1:39788","kind":"created","due":1794954321530,"priority":500,"hold":"parent"}]
[{"n":2,"at":1794954321531,"by":"bedrock 127.0.0.1:39788","kind":"freed"}]'),
	(1078, 1, NULL, 1794954321560, 0, 1794954321559, 0, NULL, '912', 0, 0, 'run', 'greet', NULL, 'pending', NULL, 'run', NULL, NULL, '{"name":"late"}', '{"changed":1794954321560,"policy":{"startBy":1794954331559},"tags":{"case":"too late"}}', '[{"n":1,"at":1794954321560,"by":"second","kind":"created","due":1794954321559,"priority":0}]'),
	(1079, 41, NULL, 1794954321560, 40, 4102444800000, 0, NULL, '1146', 0, 0, 'run', 'greet', NULL, 'pending', NULL, 'run', NULL, NULL, '{"name":"far"}', '{"changed":1794954323815,"unique":{"key":"while open","forMs":null},"tags":{"case":"delayed"}}', '[{"n":32,"at":1794954323028,"by":"ada","why":"edit 31","kind":"edited","edit":{"priority":31}}]
[{"n":33,"at":1794954323059,"by":"ada","why":"edit 32","kind":"edited","edit":{"priority":32}}]
[{"n":34,"at":1794954323350,"by":"ada","why":"edit 33","kind":"edited","edit":{"priority":33}}]
[{"n":35,"at":1794954323557,"by":"ada","why":"edit 34","kind":"edited","edit":{"priority":34}}]
[{"n":36,"at":1794954323574,"by":"ada","why":"edit 35","kind":"edited","edit":{"priority":35}}]
[{"n":37,"at":1794954323584,"by":"ada","why":"edit 36","kind":"edited","edit":{"priority":36}}]
[{"n":38,"at":1794954323592,"by":"ada","why":"edit 37","kind":"edited","edit":{"priority":37}}]
[{"n":39,"at":1794954323608,"by":"ada","why":"edit 38","kind":"edited","edit":{"priority":38}}]
[{"n":40,"at":1794954323801,"by":"ada","why":"edit 39","kind":"edited","edit":{"priority":39}}]
[{"n":41,"at":1794954323815,"by":"ada","why":"edit 40","kind":"edited","edit":{"priority":40}}]'),
	(1120, 2, NULL, 1794954323904, 0, 1794954323904, 0, NULL, '1154', 0, 0, 'run', 'greet', NULL, 'held', 'pause', 'run', NULL, NULL, '{"name":"Edsger"}', '{"changed":1794954323915,"tags":{"case":"paused"}}', '[{"n":1,"at":1794954323904,"by":"second","kind":"created","due":1794954323904,"priority":0}]
[{"n":2,"at":1794954323915,"by":"ada","kind":"paused"}]');

INSERT INTO stint.leader VALUES
	('engine', 'second', 2, 1794954333414);

INSERT INTO stint.log VALUES
	(5, 1, 1794954316342, 'info', '"hello, Ada ☃ \"quoted\""'),
	(5, 2, 1794954316342, 'warn', '"a second line"'),
	(11, 1, 1794954317045, 'info', '"hello, pulse ☃ \"quoted\""'),
	(11, 2, 1794954317045, 'warn', '"a second line"'),
	(14, 1, 1794954317726, 'info', '"hello, pulse ☃ \"quoted\""'),
	(14, 2, 1794954317726, 'warn', '"a second line"'),
	(22, 1, 1794954317940, 'info', '"hello, only ☃ \"quoted\""'),
	(22, 2, 1794954317940, 'warn', '"a second line"'),
	(23, 1, 1794954317972, 'info', '"hello, somebody ☃ \"quoted\""'),
	(23, 2, 1794954317972, 'warn', '"a second line"'),
	(33, 1, 1794954319198, 'info', '"started"'),
	(34, 1, 1794954319199, 'info', '"started"');

INSERT INTO stint.meta VALUES
	(6);

INSERT INTO stint.progress VALUES
	(5, '{"processes":[{"status":"SUCCESS","description":null,"summary":"(process completed implicitly)","error":null,"startedAt":1794954316343,"completedAt":1794954316350,"cancelledAt":null,"stages":[{"status":"SUCCESS","description":null,"summary":"2 items","error":null,"startedAt":1794954316343,"completedAt":1794954316350,"total":2,"policy":"FAIL","done":2,"failed":0,"skipped":0,"started":2,"items":[{"status":"SUCCESS","description":"item one","summary":null,"error":null,"startedAt":1794954316349,"completedAt":1794954316349,"item":1,"policy":"FAIL"},{"status":"SUCCESS","description":"item two","summary":null,"error":null,"startedAt":1794954316349,"completedAt":1794954316349,"item":2,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":null,"aborted":false,"cause":null,"skipStage":false,"updatedAt":1794954316350}'),
	(11, '{"processes":[{"status":"SUCCESS","description":null,"summary":"(process completed implicitly)","error":null,"startedAt":1794954317045,"completedAt":1794954317045,"cancelledAt":null,"stages":[{"status":"SUCCESS","description":null,"summary":"2 items","error":null,"startedAt":1794954317045,"completedAt":1794954317045,"total":2,"policy":"FAIL","done":2,"failed":0,"skipped":0,"started":2,"items":[{"status":"SUCCESS","description":"item one","summary":null,"error":null,"startedAt":1794954317045,"completedAt":1794954317045,"item":1,"policy":"FAIL"},{"status":"SUCCESS","description":"item two","summary":null,"error":null,"startedAt":1794954317045,"completedAt":1794954317045,"item":2,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":null,"aborted":false,"cause":null,"skipStage":false,"updatedAt":1794954317045}'),
	(14, '{"processes":[{"status":"SUCCESS","description":null,"summary":"(process completed implicitly)","error":null,"startedAt":1794954317726,"completedAt":1794954317727,"cancelledAt":null,"stages":[{"status":"SUCCESS","description":null,"summary":"2 items","error":null,"startedAt":1794954317726,"completedAt":1794954317727,"total":2,"policy":"FAIL","done":2,"failed":0,"skipped":0,"started":2,"items":[{"status":"SUCCESS","description":"item one","summary":null,"error":null,"startedAt":1794954317727,"completedAt":1794954317727,"item":1,"policy":"FAIL"},{"status":"SUCCESS","description":"item two","summary":null,"error":null,"startedAt":1794954317727,"completedAt":1794954317727,"item":2,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":null,"aborted":false,"cause":null,"skipStage":false,"updatedAt":1794954317727}'),
	(22, '{"processes":[{"status":"SUCCESS","description":null,"summary":"(process completed implicitly)","error":null,"startedAt":1794954317940,"completedAt":1794954317940,"cancelledAt":null,"stages":[{"status":"SUCCESS","description":null,"summary":"2 items","error":null,"startedAt":1794954317940,"completedAt":1794954317940,"total":2,"policy":"FAIL","done":2,"failed":0,"skipped":0,"started":2,"items":[{"status":"SUCCESS","description":"item one","summary":null,"error":null,"startedAt":1794954317940,"completedAt":1794954317940,"item":1,"policy":"FAIL"},{"status":"SUCCESS","description":"item two","summary":null,"error":null,"startedAt":1794954317940,"completedAt":1794954317940,"item":2,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":null,"aborted":false,"cause":null,"skipStage":false,"updatedAt":1794954317940}'),
	(23, '{"processes":[{"status":"SUCCESS","description":null,"summary":"(process completed implicitly)","error":null,"startedAt":1794954317972,"completedAt":1794954317972,"cancelledAt":null,"stages":[{"status":"SUCCESS","description":null,"summary":"2 items","error":null,"startedAt":1794954317972,"completedAt":1794954317972,"total":2,"policy":"FAIL","done":2,"failed":0,"skipped":0,"started":2,"items":[{"status":"SUCCESS","description":"item one","summary":null,"error":null,"startedAt":1794954317972,"completedAt":1794954317972,"item":1,"policy":"FAIL"},{"status":"SUCCESS","description":"item two","summary":null,"error":null,"startedAt":1794954317972,"completedAt":1794954317972,"item":2,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":null,"aborted":false,"cause":null,"skipStage":false,"updatedAt":1794954317972}'),
	(33, '{"processes":[{"status":"RUNNING","description":null,"summary":null,"error":null,"startedAt":1794954319199,"completedAt":null,"cancelledAt":null,"stages":[{"status":"RUNNING","description":"a long stage","summary":null,"error":null,"startedAt":1794954319199,"completedAt":null,"total":3,"policy":"FAIL","done":0,"failed":0,"skipped":0,"started":1,"items":[{"status":"RUNNING","description":"the first item","summary":null,"error":null,"startedAt":1794954319199,"completedAt":null,"item":null,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":null,"aborted":false,"cause":null,"skipStage":false,"updatedAt":1794954319199}'),
	(34, '{"processes":[{"status":"CANCELLED","description":null,"summary":null,"error":null,"startedAt":1794954319199,"completedAt":null,"cancelledAt":1794954319377,"stages":[{"status":"RUNNING","description":"a long stage","summary":null,"error":null,"startedAt":1794954319199,"completedAt":null,"total":3,"policy":"FAIL","done":0,"failed":0,"skipped":0,"started":1,"items":[{"status":"RUNNING","description":"the first item","summary":null,"error":null,"startedAt":1794954319199,"completedAt":null,"item":null,"policy":"FAIL"}]}],"stagesDropped":0}],"processesDropped":0,"cancelledAt":1794954319377,"aborted":false,"cause":"not needed","skipStage":false,"updatedAt":1794954319377}');

INSERT INTO stint.staged VALUES
	(46, 1, 63, 1001, '{"{63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,123,124,125,126,127,128,129,130,131,132,133,134,135,136,137,138,139,140,141,142,143,144,145,146,147,148,149,150,151,152,153,154,155,156,157,158,159,160,161,162,163,164,165,166,167,168,169,170,171,172,173,174,175,176,177,178,179,180,181,182,183,184,185,186,187,188,189,190,191,192,193,194,195,196,197,198,199,200,201,202,203,204,205,206,207,208,209,210,211,212,213,214,215,216,217,218,219,220,221,222,223,224,225,226,227,228,229,230,231,232,233,234,235,236,237,238,239,240,241,242,243,244,245,246,247,248,249,250,251,252,253,254,255,256,257,258,259,260,261,262,263,264,265,266,267,268,269,270,271,272,273,274,275,276,277,278,279,280,281,282,283,284,285,286,287,288,289,290,291,292,293,294,295,296,297,298,299,300,301,302,303,304,305,306,307,308,309,310,311,312,313,314,315,316,317,318,319,320,321,322,323,324,325,326,327,328,329,330,331,332,333,334,335,336,337,338,339,340,341,342,343,344,345,346,347,348,349,350,351,352,353,354,355,356,357,358,359,360,361,362,363,364,365,366,367,368,369,370,371,372,373,374,375,376,377,378,379,380,381,382,383,384,385,386,387,388,389,390,391,392,393,394,395,396,397,398,399,400,401,402,403,404,405,406,407,408,409,410,411,412,413,414,415,416,417,418,419,420,421,422,423,424,425,426,427,428,429,430,431,432,433,434,435,436,437,438,439,440,441,442,443,444,445,446,447,448,449,450,451,452,453,454,455,456,457,458,459,460,461,462,463,464,465,466,467,468,469,470,471,472,473,474,475,476,477,478,479,480,481,482,483,484,485,486,487,488,489,490,491,492,493,494,495,496,497,498,499,500,501,502,503,504,505,506,507,508,509,510,511,512,513,514,515,516,517,518,519,520,521,522,523,524,525,526,527,528,529,530,531,532,533,534,535,536,537,538,539,540,541,542,543,544,545,546,547,548,549,550,551,552,553,554,555,556,557,558,559,560,561,562,563,564,565,566,567,568,569,570,571,572,573,574,575,576,577,578,579,580,581,582,583,584,585,586,587,588,589,590,591,592,593,594,595,596,597,598,599,600,601,602,603,604,605,606,607,608,609,610,611,612,613,614,615,616,617,618,619,620,621,622,623,624,625,626,627,628,629,630,631,632,633,634,635,636,637,638,639,640,641,642,643,644,645,646,647,648,649,650,651,652,653,654,655,656,657,658,659,660,661,662,663,664,665,666,667,668,669,670,671,672,673,674,675,676,677,678,679,680,681,682,683,684,685,686,687,688,689,690,691,692,693,694,695,696,697,698,699,700,701,702,703,704,705,706,707,708,709,710,711,712,713,714,715,716,717,718,719,720,721,722,723,724,725,726,727,728,729,730,731,732,733,734,735,736,737,738,739,740,741,742,743,744,745,746,747,748,749,750,751,752,753,754,755,756,757,758,759,760,761,762,763,764,765,766,767,768,769,770,771,772,773,774,775,776,777,778,779,780,781,782,783,784,785,786,787,788,789,790,791,792,793,794,795,796,797,798,799,800,801,802,803,804,805,806,807,808,809,810,811,812,813,814,815,816,817,818,819,820,821,822,823,824,825,826,827,828,829,830,831,832,833,834,835,836,837,838,839,840,841,842,843,844,845,846,847,848,849,850,851,852,853,854,855,856,857,858,859,860,861,862,863,864,865,866,867,868,869,870,871,872,873,874,875,876,877,878,879,880,881,882,883,884,885,886,887,888,889,890,891,892,893,894,895,896,897,898,899,900,901,902,903,904,905,906,907,908,909,910,911,912,913,914,915,916,917,918,919,920,921,922,923,924,925,926,927,928,929,930,931,932,933,934,935,936,937,938,939,940,941,942,943,944,945,946,947,948,949,950,951,952,953,954,955,956,957,958,959,960,961,962,963,964,965,966,967,968,969,970,971,972,973,974,975,976,977,978,979,980,981,982,983,984,985,986,987,988,989,990,991,992,993,994,995,996,997,998,999,1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,1012,1013,1014,1015,1016,1017,1018,1019,1020,1021,1022,1023,1024,1025,1026,1027,1028,1029,1030,1031,1032,1033,1034,1035,1036,1037,1038,1039,1040,1041,1042,1043,1044,1045,1046,1047,1048,1049,1050,1051,1052,1053,1054,1055,1056,1057,1058,1059,1060,1061,1062,1063}",1,0,1794954319227,0,NULL,0,0,planning,pending,NULL,run,NULL,"{\"changed\":1794954319227}",46,1794954319227,task,NULL,NULL,12345678910111213141516171819202122232425262728293031323334353637383940414243444546474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697989910010110210310410510610710810911011111211311411511611711811912012112212312412512612712812913013113213313413513613713813914014114214314414514614714814915015115215315415515615715815916016116216316416516616716816917017117217317417517617717817918018118218318418518618718818919019119219319419519619719819920020120220320420520620720820921021121221321421521621721821922022122222322422522622722822923023123223323423523623723823924024124224324424524624724824925025125225325425525625725825926026126226326426526626726826927027127227327427527627727827928028128228328428528628728828929029129229329429529629729829930030130230330430530630730830931031131231331431531631731831932032132232332432532632732832933033133233333433533633733833934034134234334434534634734834935035135235335435535635735835936036136236336436536636736836937037137237337437537637737837938038138238338438538638738838939039139239339439539639739839940040140240340440540640740840941041141241341441541641741841942042142242342442542642742842943043143243343443543643743843944044144244344444544644744844945045145245345445545645745845946046146246346446546646746846947047147247347447547647747847948048148248348448548648748848949049149249349449549649749849950050150250350450550650750850951051151251351451551651751851952052152252352452552652752852953053153253353453553653753853954054154254354454554654754854955055155255355455555655755855956056156256356456556656756856957057157257357457557657757857958058158258358458558658758858959059159259359459559659759859960060160260360460560660760860961061161261361461561661761861962062162262362462562662762862963063163263363463563663763863964064164264364464564664764864965065165265365465565665765865966066166266366466566666766866967067167267367467567667767867968068168268368468568668768868969069169269369469569669769869970070170270370470570670770870971071171271371471571671771871972072172272372472572672772872973073173273373473573673773873974074174274374474574674774874975075175275375475575675775875976076176276376476576676776876977077177277377477577677777877978078178278378478578678778878979079179279379479579679779879980080180280380480580680780880981081181281381481581681781881982082182282382482582682782882983083183283383483583683783883984084184284384484584684784884985085185285385485585685785885986086186286386486586686786886987087187287387487587687787887988088188288388488588688788888989089189289389489589689789889990090190290390490590690790890991091191291391491591691791891992092192292392492592692792892993093193293393493593693793893994094194294394494594694794894995095195295395495595695795895996096196296396496596696796896997097197297397497597697797897998098198298398498598698798898999099199299399499599699799899910001001,"[{\"n\":1,\"at\":1794954319227,\"by\":\"second\",\"kind\":\"created\",\"due\":1794954319227,\"priority\":0}]"}', 'quick', 'id,input', '[{"kind":"task","type":"planning","parent":46,"jobs":[63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,123,124,125,126,127,128,129,130,131,132,133,134,135,136,137,138,139,140,141,142,143,144,145,146,147,148,149,150,151,152,153,154,155,156,157,158,159,160,161,162,163,164,165,166,167,168,169,170,171,172,173,174,175,176,177,178,179,180,181,182,183,184,185,186,187,188,189,190,191,192,193,194,195,196,197,198,199,200,201,202,203,204,205,206,207,208,209,210,211,212,213,214,215,216,217,218,219,220,221,222,223,224,225,226,227,228,229,230,231,232,233,234,235,236,237,238,239,240,241,242,243,244,245,246,247,248,249,250,251,252,253,254,255,256,257,258,259,260,261,262,263,264,265,266,267,268,269,270,271,272,273,274,275,276,277,278,279,280,281,282,283,284,285,286,287,288,289,290,291,292,293,294,295,296,297,298,299,300,301,302,303,304,305,306,307,308,309,310,311,312,313,314,315,316,317,318,319,320,321,322,323,324,325,326,327,328,329,330,331,332,333,334,335,336,337,338,339,340,341,342,343,344,345,346,347,348,349,350,351,352,353,354,355,356,357,358,359,360,361,362,363,364,365,366,367,368,369,370,371,372,373,374,375,376,377,378,379,380,381,382,383,384,385,386,387,388,389,390,391,392,393,394,395,396,397,398,399,400,401,402,403,404,405,406,407,408,409,410,411,412,413,414,415,416,417,418,419,420,421,422,423,424,425,426,427,428,429,430,431,432,433,434,435,436,437,438,439,440,441,442,443,444,445,446,447,448,449,450,451,452,453,454,455,456,457,458,459,460,461,462,463,464,465,466,467,468,469,470,471,472,473,474,475,476,477,478,479,480,481,482,483,484,485,486,487,488,489,490,491,492,493,494,495,496,497,498,499,500,501,502,503,504,505,506,507,508,509,510,511,512,513,514,515,516,517,518,519,520,521,522,523,524,525,526,527,528,529,530,531,532,533,534,535,536,537,538,539,540,541,542,543,544,545,546,547,548,549,550,551,552,553,554,555,556,557,558,559,560,561,562,563,564,565,566,567,568,569,570,571,572,573,574,575,576,577,578,579,580,581,582,583,584,585,586,587,588,589,590,591,592,593,594,595,596,597,598,599,600,601,602,603,604,605,606,607,608,609,610,611,612,613,614,615,616,617,618,619,620,621,622,623,624,625,626,627,628,629,630,631,632,633,634,635,636,637,638,639,640,641,642,643,644,645,646,647,648,649,650,651,652,653,654,655,656,657,658,659,660,661,662,663,664,665,666,667,668,669,670,671,672,673,674,675,676,677,678,679,680,681,682,683,684,685,686,687,688,689,690,691,692,693,694,695,696,697,698,699,700,701,702,703,704,705,706,707,708,709,710,711,712,713,714,715,716,717,718,719,720,721,722,723,724,725,726,727,728,729,730,731,732,733,734,735,736,737,738,739,740,741,742,743,744,745,746,747,748,749,750,751,752,753,754,755,756,757,758,759,760,761,762,763,764,765,766,767,768,769,770,771,772,773,774,775,776,777,778,779,780,781,782,783,784,785,786,787,788,789,790,791,792,793,794,795,796,797,798,799,800,801,802,803,804,805,806,807,808,809,810,811,812,813,814,815,816,817,818,819,820,821,822,823,824,825,826,827,828,829,830,831,832,833,834,835,836,837,838,839,840,841,842,843,844,845,846,847,848,849,850,851,852,853,854,855,856,857,858,859,860,861,862,863,864,865,866,867,868,869,870,871,872,873,874,875,876,877,878,879,880,881,882,883,884,885,886,887,888,889,890,891,892,893,894,895,896,897,898,899,900,901,902,903,904,905,906,907,908,909,910,911,912,913,914,915,916,917,918,919,920,921,922,923,924,925,926,927,928,929,930,931,932,933,934,935,936,937,938,939,940,941,942,943,944,945,946,947,948,949,950,951,952,953,954,955,956,957,958,959,960,961,962,963,964,965,966,967,968,969,970,971,972,973,974,975,976,977,978,979,980,981,982,983,984,985,986,987,988,989,990,991,992,993,994,995,996,997,998,999,1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,1012,1013,1014,1015,1016,1017,1018,1019,1020,1021,1022,1023,1024,1025,1026,1027,1028,1029,1030,1031,1032,1033,1034,1035,1036,1037,1038,1039,1040,1041,1042,1043,1044,1045,1046,1047,1048,1049,1050,1051,1052,1053,1054,1055,1056,1057,1058,1059,1060,1061,1062,1063],"events":[{"n":1,"at":1794954319227,"by":"second","kind":"created","due":1794954319227,"priority":0}]}]');

INSERT INTO stint.taken VALUES
	('def digest', 1, NULL),
	('def by hand', 4, NULL),
	('def disabled', 3, NULL),
	('def pulse', 2, NULL),
	('for a long time', 22, 4386954317932),
	('def made by hand', 26, NULL),
	('bedrock b/unique', 1068, NULL),
	('while open', 1079, NULL);

SELECT pg_catalog.setval('stint.feed_seq_seq', 284, true);

ALTER TABLE ONLY stint.chunk
    ADD CONSTRAINT chunk_pkey PRIMARY KEY (job, upto);

ALTER TABLE ONLY stint.counter
    ADD CONSTRAINT counter_pkey PRIMARY KEY (name);

ALTER TABLE ONLY stint.ended
    ADD CONSTRAINT ended_pkey PRIMARY KEY (id);

ALTER TABLE ONLY stint.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (told, seq);

ALTER TABLE ONLY stint.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (id);

ALTER TABLE ONLY stint.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY stint.leader
    ADD CONSTRAINT leader_pkey PRIMARY KEY (role);

ALTER TABLE ONLY stint.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (job, n);

ALTER TABLE ONLY stint.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (job);

ALTER TABLE ONLY stint.staged
    ADD CONSTRAINT staged_pkey PRIMARY KEY (parent, fence, first);

ALTER TABLE ONLY stint.taken
    ADD CONSTRAINT taken_pkey PRIMARY KEY (key);

CREATE INDEX ended_def ON stint.ended USING btree (def, id) WHERE (def IS NOT NULL);

CREATE INDEX ended_parent ON stint.ended USING btree (parent, id) INCLUDE (kind, type, fate) WHERE (parent IS NOT NULL);

CREATE INDEX ended_past ON stint.ended USING btree (ended_at) WHERE ((parent IS NULL) AND (purge_at IS NULL));

CREATE INDEX ended_purge ON stint.ended USING btree (purge_at) WHERE (purge_at IS NOT NULL);

CREATE INDEX ended_since ON stint.ended USING btree (ended_at) WHERE ((kind <> 'task'::text) AND ((parent IS NOT NULL) OR (purge_at IS NOT NULL)));

CREATE INDEX ended_top ON stint.ended USING btree (id) WHERE (kind <> 'task'::text);

CREATE INDEX ended_type ON stint.ended USING btree (type, id) WHERE (kind <> 'task'::text);

CREATE INDEX ended_unlucky ON stint.ended USING btree (fate, id) WHERE (fate <> 'succeeded'::text);

CREATE INDEX ended_unlucky_top ON stint.ended USING btree (fate, type, id) INCLUDE (kind, def, created) WHERE ((kind <> 'task'::text) AND (fate <> 'succeeded'::text));

CREATE INDEX job_behind ON stint.job USING btree (gate) WHERE ((gate IS NOT NULL) AND (admitted = 1));

CREATE INDEX job_def ON stint.job USING btree (def, id) WHERE (def IS NOT NULL);

CREATE INDEX job_gate ON stint.job USING btree (kind, type, gate, priority DESC, due, id) WHERE ((state = 'pending'::text) AND (gate IS NOT NULL) AND (admitted = 0));

CREATE INDEX job_lane ON stint.job USING btree (kind, type, priority DESC, due, id) WHERE ((state = 'pending'::text) AND ((gate IS NULL) OR (admitted = 1)));

CREATE INDEX job_parent ON stint.job USING btree (parent, id) WHERE (parent IS NOT NULL);

CREATE INDEX job_queue ON stint.job USING btree (type, id) WHERE (kind = ANY (ARRAY['bedrock'::text, 'mock'::text]));

CREATE INDEX job_running ON stint.job USING btree (lease_until) WHERE (state = 'running'::text);

CREATE INDEX job_spec ON stint.job USING btree (kind, id) WHERE (kind = 'def'::text);

CREATE INDEX job_waiting ON stint.job USING btree (id) WHERE (hold = 'children'::text);

CREATE INDEX taken_until ON stint.taken USING btree (until) WHERE (until IS NOT NULL);


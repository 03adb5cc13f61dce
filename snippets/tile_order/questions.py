"""What the questions of the lesson ask, worked out: each line is the answer to one."""


def tile_of(program, rows, columns, group):
    """The row and the column of a program's tile, as the lesson's map says: down a group's rows first."""
    first = program // (group * columns) * group
    height = min(rows - first, group)
    place = program % (group * columns)
    return first + place % height, place // height


print(f"fifth: {tile_of(5, 8, 8, group=4)}")

patches = {f"{rows} x {columns}": rows * 128 + columns * 256 for rows, columns in ((4, 8), (8, 4), (16, 2))}
print(f"patch: {min(patches, key=patches.get)}")

tiles = [{tile_of(program, 6, 5, group) for program in range(30)} for group in (1, 4, 16)]
print(f"result: {'same' if all(len(each) == 30 for each in tiles) else 'other'}")
